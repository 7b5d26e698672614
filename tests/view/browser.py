"""A real browser: Chromium without a window, with a profile of its own and no network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 20
"""Seconds that a test waits for what should happen at once: machines can be busy."""


def installed() -> str | None:
    """The browser, if it and its driver are there."""
    driver = shutil.which("chromedriver")
    return next(filter(None, map(shutil.which, NAMES)), None) if driver else None


class Browser:
    """One window, and what a reader does in it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path) -> None:
        """Load a page and wait until it is ready."""
        self.driver.get(page.as_uri())
        self.until("document.documentElement.dataset.ready !== undefined")

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: str) -> None:
        """Wait until a condition of the page holds."""
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02).until(
            lambda _: self.run(f"return {condition};"), condition
        )

    def find(self, selector: str) -> WebElement:
        """One element."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        """All such elements."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.find(selector).text)

    def press(self, *keys: str) -> None:
        """Type where the focus is."""
        for key in keys:
            self.run("return document.activeElement || document.body").send_keys(getattr(Keys, key, key))

    def focused(self) -> str:
        """The id of what has the focus."""
        return str(self.run("return document.activeElement.id"))

    def messages(self) -> list[str]:
        """Errors and warnings of the page since this was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]


@contextmanager
def browser(folder: Path, width: int = 1400, height: int = 1100) -> Iterator[Browser]:
    """A browser for as long as it is needed."""
    options = webdriver.ChromeOptions()
    options.binary_location = installed() or ""
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
