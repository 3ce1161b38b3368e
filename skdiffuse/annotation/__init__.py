"""Asking people: one pair after the other, in the terminal or in a browser."""

from skdiffuse.annotation._session import AlreadyAnsweredError, Question, Session

__all__ = ["AlreadyAnsweredError", "Question", "Session"]
