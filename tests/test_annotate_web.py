"""The command `annotate --web` in a real browser, as people meet it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from annotated import answers_of, write_outputs
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMEDRIVER = shutil.which("chromedriver")
if not (CHROMIUM and CHROMEDRIVER):
    pytest.skip(
        "needs chromium and chromedriver (Debian: chromium, chromium-driver)",
        allow_module_level=True,
    )


PATIENCE = 30.0
HOSTILE = {
    "html": "<script>hacked = 1</script><img src=x onerror='hacked=1'><b>bold</b>",
    "ansi": "\x1b[31mred\x1b[0m",
    "rtl": "مرحبا بالعالم، هذا نص",
    "emoji": "👩‍👩‍👧‍👦 🎉",
    "empty": "  ",
    "long": " ".join(f"word{i}" for i in range(2500)),
}


class Page:
    """A window of the browser with the page in it."""

    def __init__(self, driver, window):
        self._driver = driver
        self._window = window

    @property
    def driver(self):
        self._driver.switch_to.window(self._window)
        return self._driver

    def type(self, keys):
        ActionChains(self.driver).send_keys(keys).perform()

    def click(self, words):
        for button in self.driver.find_elements(By.TAG_NAME, "button"):
            if button.is_displayed() and words in button.text:
                button.click()
                return
        raise AssertionError(f"no button {words!r}")

    def text(self, name):
        return self.driver.find_element(By.ID, name).text

    def shows(self, name):
        return self.driver.find_element(By.ID, name).is_displayed()

    def until(self, name, words):
        """Wait until an element says something."""
        return wait(lambda: words in self.text(name), lambda: self.text(name))

    def until_shown(self, name):
        return wait(lambda: self.shows(name), lambda: self.text("status"))


def wait(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(what())


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(CHROMEDRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def open_page(driver):
    first = driver.current_window_handle

    def open_page(address):
        driver.switch_to.new_window("tab")
        driver.get(address)
        page = Page(driver, driver.current_window_handle)
        page.until("status", "judged")
        return page

    yield open_page
    # Nothing is refused by the policy, and no script fails.
    faults = [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]
    for window in driver.window_handles:
        if window != first:
            driver.switch_to.window(window)
            driver.close()
    driver.switch_to.window(first)
    expected = ("409", "ERR_CONNECTION_REFUSED", "403")
    assert not [
        fault["message"]
        for fault in faults
        if not any(code in fault["message"] for code in expected)
    ]


class Server:
    """The command, running."""

    def __init__(self, file, *options):
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "skdiffuse", "annotate", str(file)),
                *("--web", "--json", *options),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/#\S+", line)
        assert found, line + self.process.stderr.read()
        self.address = found[0]

    def end(self):
        """End it as Ctrl-C does; return what it prints."""
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0
        return json.loads(out)

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def serve():
    servers = []

    def serve(*arguments):
        servers.append(Server(*arguments))
        return servers[-1]

    yield serve
    for server in servers:
        server.kill()


@pytest.fixture
def file(tmp_path):
    return write_outputs(tmp_path, 60)


def test_keys_clicks_undo_skip_quit_and_resume(serve, open_page, file):
    server = serve(file)
    page = open_page(server.address)
    assert page.text("status") == "0 judged · at most 60 more"
    page.type("1")
    page.until("status", "1 judged")
    page.click("Tie")
    page.until("status", "2 judged")
    # Space scrolls; it does not press the button that was clicked last.
    page.type(" ")
    shown = page.text("input")
    page.type("s")
    page.until("status", "1 skipped")
    page.type("u")
    page.until("message", "taken back")
    assert page.text("input") == shown
    assert "skipped" not in page.text("status")
    page.click("Right is better")
    page.until("status", "3 judged")
    assert not page.shows("message")
    page.driver.refresh()
    page.until("status", "3 judged")
    # The window is the same annotator as before.
    page.type("u")
    page.until("status", "2 judged")
    page.type("2")
    page.until("status", "3 judged")
    page.type("q")
    page.until_shown("left-off")
    page.type("1")
    page.click("go on")
    page.until_shown("asking")
    result = server.end()
    assert result["winner"] is None
    assert result["counts"] is None
    assert [line["answer"] for line in answers_of(file)] == ["left", "tie", "right"]
    assert len({line["annotator"] for line in answers_of(file)}) == 1
    page.until("message", "does not answer")
    again = open_page(serve(file).address)
    again.until("status", "3 judged")
    page.driver.get(page.driver.current_url.split("#")[0] + "#wrong")


def test_kill_loses_no_answer(serve, open_page, tmp_path):
    file = tmp_path / "large.csv"
    pl.DataFrame(
        {
            "output_a": [f"It is a {i}." for i in range(5000)],
            "output_b": [f"A {i % 97}, or a {i % 89}?" for i in range(5000)],
        }
    ).write_csv(file)
    server = serve(file)
    page = open_page(server.address)
    for n in range(1, 5):
        page.type("2")
        page.until("status", f"{n} judged")
    server.kill()
    assert len(answers_of(file)) == 4
    page.type("2")
    page.until("message", "does not answer")
    assert len(answers_of(file)) == 4
    again = open_page(serve(file).address)
    again.until("status", "4 judged")


def test_two_at_once_and_the_verdict(serve, open_page, file):
    server = serve(file, "--rule", "fixed", "--max-annotations", "12")
    pages = [open_page(server.address), open_page(server.address)]
    # A copied window has the name of the first in its storage, and takes another.
    read, write = "return sessionStorage.annotator", "sessionStorage.annotator = "
    name = pages[0].driver.execute_script(read)
    pages[1].driver.execute_script(f"{write} '{name}'")
    pages[1].driver.refresh()
    pages[1].until("status", "judged")
    assert pages[1].driver.execute_script(read) != name
    asked = []
    for turn in range(12):
        page = pages[turn % 2]
        page.until_shown("asking")
        others = pages[1 - turn % 2]
        if others.shows("asking"):
            assert page.text("input") != others.text("input")
        before = page.text("input")
        asked.append(before)
        page.type("1")
        wait(lambda: page.text("input") != before or not page.shows("asking"), str)  # noqa: B023
    assert len(set(asked)) == 12
    for page in pages:
        page.until_shown("ended")
        page.until("headline", "is ahead.")
        assert "left output was preferred 12 times" in page.text("notes")
        assert "12 of 60 examples" in page.text("details")
    told = answers_of(file)
    assert len(told) == 12
    assert len({line["annotator"] for line in told}) == 2
    # Each takes back the last of their own.
    pages[0].type("u")
    pages[0].until_shown("asking")
    assert pages[0].text("input") == asked[10]
    pages[1].until_shown("waiting")
    pages[0].type("0")
    pages[1].until_shown("ended")
    result = server.end()
    assert result["n_annotations"] == 12
    assert result["counts"]["tie"] == 1
    assert result["preferred"] == {"left": 11, "right": 0}
    assert "left output was preferred 11 times" in " ".join(result["notes"])


def test_outputs_are_shown_as_text(serve, open_page, tmp_path):
    file = tmp_path / "hostile.jsonl"
    pl.DataFrame(
        {
            "input": [f"case {name} <i>x</i>" for name in HOSTILE],
            "output_a": list(HOSTILE.values()),
            "output_b": [f"plain {name}" for name in HOSTILE],
        }
    ).write_ndjson(file)
    page = open_page(serve(file, "--rule", "fixed").address)
    seen = set()
    for n in range(len(HOSTILE)):
        page.until("status", f"{n} judged")
        name, italic = page.text("input").removeprefix("case ").split(" ", 1)
        assert italic == "<i>x</i>"
        seen.add(name)
        outputs = {page.text("left"), page.text("right")}
        other = (outputs - {f"plain {name}"}).pop()
        expected = {"ansi": "<U+001B>[31mred<U+001B>[0m", "empty": "(empty)"}
        assert other == expected.get(name, HOSTILE[name])
        for markup in ("script", "img", "b", "i"):
            found = page.driver.find_elements(By.CSS_SELECTOR, f"pre {markup}")
            assert found == []
        if name == "rtl":
            side = "left" if page.text("left") == other else "right"
            style = page.driver.find_element(By.ID, side)
            assert style.value_of_css_property("direction") == "rtl"
        if name == "long":
            check_that_it_fits(page)
        page.type("0")
    page.until_shown("ended")
    assert seen == set(HOSTILE)
    assert page.driver.execute_script("return window.hacked") is None


def check_that_it_fits(page):
    """The long output scrolls by itself, with nothing beside the window."""
    sizes = """
        const page = document.documentElement;
        const box = document.getElementById(arguments[0]);
        return [page.scrollWidth - innerWidth, page.scrollHeight - innerHeight,
                box.scrollHeight - box.clientHeight]"""
    side = "left" if page.text("left").startswith("word") else "right"
    wide, high, scrolls = page.driver.execute_script(sizes, side)
    assert wide <= 0
    assert high <= 0
    assert scrolls > 100
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    wide, high, scrolls = page.driver.execute_script(sizes, side)
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 0
    assert high <= 0
    assert scrolls > 100
