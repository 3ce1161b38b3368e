"""Where the tests find real judgements, and how hypothesis runs."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sklearn import config_context

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=60, suppress_health_check=_SLOW
)
settings.register_profile(
    "explore", deadline=None, max_examples=1000, suppress_health_check=_SLOW
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True)
def _trusting_simulations(request):
    """Spare simulations the checks of parameters, which take half of their time."""
    trusting = request.node.get_closest_marker("simulation") is not None
    with config_context(skip_parameter_validation=trusting):
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real judgements; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("SKDIFFUSE_DATA", _BESIDE))
    if not folder.is_dir():
        pytest.skip("no real judgements here: set SKDIFFUSE_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def numeric_facts(real_data) -> dict:
    """Results of other software for the same numbers."""
    path = real_data.parent / "numeric_facts.json"
    if not path.is_file():
        pytest.skip("no numeric_facts.json beside the folder of real judgements")
    return json.loads(path.read_text())


@pytest.fixture
def run(capsys):
    """Run a command; return its exit code, and what it printed on both streams."""
    from skdiffuse.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return stop.value.code, printed.out, printed.err

    return run
