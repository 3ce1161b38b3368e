"""Make the pictures of the annotation page: ``python docs/screenshots.py``.

Needs the extra `test`, and Debian's chromium with chromium-driver.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

HERE = Path(__file__).parent
QUESTION = "Why is the sky blue? Two sentences, for a child of eight."
GOOD = (
    "Sunlight is made of all colours, and the air throws blue light around more than "
    "the others. So wherever you look up, some blue light comes to your eyes."
)
SHORT = "Because of Rayleigh scattering."


def main() -> None:
    """Ask a question on the page, and take its picture in light, dark and small."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outputs.jsonl"
        pairs = {"input": [QUESTION] * 40, "output_a": [GOOD] * 40}
        pairs["output_b"] = [SHORT + " " * i for i in range(40)]
        pl.DataFrame(pairs).write_ndjson(file)
        command = [sys.executable, "-m", "skdiffuse", "annotate", str(file), "--web"]
        options = ["--selector", "random", "--rule", "betting"]
        with subprocess.Popen(
            [*command, *options], stderr=subprocess.PIPE, text=True
        ) as server:
            address = re.search(r"http\S+", server.stderr.readline())[0]
            take(address, folder)
            server.kill()


def take(address: str, folder: str) -> None:
    """Take the pictures of a page on which three questions were answered."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("headless=new", "no-sandbox", f"user-data-dir={folder}/profile"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options, service)
    driver.get(address)
    wait_for(driver, "0 judged")
    for n in range(1, 4):
        ActionChains(driver).send_keys("0").perform()
        wait_for(driver, f"{n} judged")
    for name, scheme, width, height in (
        ("light", "light", 960, 520),
        ("dark", "dark", 960, 520),
        ("phone", "light", 390, 760),
    ):
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", size | {"mobile": width < 500}
        )
        time.sleep(0.5)
        driver.save_screenshot(str(HERE / "_static" / f"annotate_{name}.png"))
    driver.quit()


def wait_for(driver: webdriver.Chrome, words: str) -> None:
    """Wait until the page tells how many are judged."""
    end = time.monotonic() + 30
    while words not in driver.find_element(By.ID, "status").text:
        if time.monotonic() > end:
            raise TimeoutError(f"the page does not say {words!r}")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
