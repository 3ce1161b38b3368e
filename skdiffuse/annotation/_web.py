"""The annotation loop on a page of this machine alone."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from threading import Thread
from typing import Any

from flask import Flask, Response, abort, jsonify, request
from werkzeug.serving import WSGIRequestHandler, make_server

from skdiffuse.annotation._session import AlreadyAnsweredError, Session

HOST = "127.0.0.1"
_LONGEST_NAME = 40
_LONGEST_REQUEST = 10_000


def make_app(session: Session, token: str, *, show_leader: bool) -> Flask:
    """Return the page and what it talks to.

    Parameters
    ----------
    session : Session
    token : str
        What a page has to know: any page of a browser can reach this machine.
    show_leader : bool
        Tell how many examples either has won.
    """
    app = Flask(__name__, static_folder="page", static_url_path="/page")
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.config["MAX_CONTENT_LENGTH"] = _LONGEST_REQUEST

    @app.get("/")
    def page() -> Response:
        return app.send_static_file("index.html")

    @app.post("/api/<action>")
    def act(action: str) -> tuple[Response, int]:
        sent = request.headers.get("X-Token", "").encode("utf-8", "replace")
        if not secrets.compare_digest(sent, token.encode()):
            abort(403)
        body: Any = request.get_json()
        annotator = body.get("annotator") if isinstance(body, dict) else None
        if not isinstance(annotator, str) or not 0 < len(annotator) <= _LONGEST_NAME:
            abort(400)
        message, code = _do(session, action, annotator, body)
        if action == "leave":
            return jsonify({}), code
        state = _state(session, annotator, show_leader, asks=action != "look")
        return jsonify(state | {"message": message}), code

    @app.errorhandler(RecursionError)
    def refuse(_: RecursionError) -> tuple[Response, int]:
        return jsonify({}), 400

    @app.after_request
    def only_from_here(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self'; "
            "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return app


def _do(
    session: Session, action: str, annotator: str, body: dict[str, Any]
) -> tuple[str, int]:
    """Do what a page asks for; return what to tell, and an HTTP status."""
    try:
        match action:
            case "answer":
                row, answer = body.get("row"), body.get("answer")
                if type(row) is not int or not isinstance(answer, str):
                    abort(400)
                session.answer(annotator, row, answer)
            case "undo":
                if not session.undo(annotator):
                    return "There is nothing of yours to take back.", 200
                return "Your last answer is taken back.", 200
            case "leave":
                session.leave(annotator)
            case "look":
                if body.get("active") is True:
                    session.hear(annotator)
            case "ask":
                pass
            case _:
                abort(404)
    except AlreadyAnsweredError:
        return "That pair has an answer already, yours or somebody else's.", 409
    except ValueError as error:
        return str(error), 400
    except OSError as error:
        return f"Not saved: {error}. Mend that, and answer again.", 500
    return "", 200


def _state(
    session: Session, annotator: str, show_leader: bool, *, asks: bool
) -> dict[str, Any]:
    question = session.ask(annotator) if asks else None
    status = session.status()
    state: dict[str, Any] = {"status": status}
    if asks:
        state["question"] = None if question is None else asdict(question)
    if show_leader or status["ended"]:
        state["lead"] = session.lead()
    if status["ended"]:
        summary = session.summary()
        state["verdict"] = {
            name: summary[name] for name in ("headline", "details", "notes")
        }
    return state


class _Quiet(WSGIRequestHandler):
    """Leaves the address of the page on the screen."""

    def log_request(self, *_: object) -> None:
        """Say nothing: each page asks every few seconds."""


@contextmanager
def served(session: Session, port: int, *, show_leader: bool) -> Iterator[str]:
    """Serve the page in the background; give its address.

    Raises
    ------
    ValueError
        If the port is taken.
    """
    token = secrets.token_urlsafe(16)
    app = make_app(session, token, show_leader=show_leader)
    try:
        server = make_server(HOST, port, app, threaded=True, request_handler=_Quiet)
    except (OSError, SystemExit) as error:
        raise ValueError(
            f"--port {port} cannot be used; another program may have it: give "
            "another, or none."
        ) from error
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/#{token}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
