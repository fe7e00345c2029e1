"""What can go wrong between a model's name and a model that runs, one word each.

A page shows the sentence that belongs to the word, in the user's language; the message is the same in plain English,
with names and numbers, for whoever uses the package from a Python prompt.
"""

from enum import StrEnum


class ModelProblem(StrEnum):
    """Why there is no model."""

    UNKNOWN_NAME = "unknown_name"  # neither in the catalogue nor the full path of a folder that is there
    MISSING = "missing"  # a file is not there or cannot be read
    DAMAGED = "damaged"  # a file is there but is not, byte for byte, what it should be
    WRONG_FILE = "wrong_file"  # a file is whole, but not the one that belongs here
    UNSUPPORTED = "unsupported"  # a model of another kind or format than this app can show
    TOO_LARGE = "too_large"  # more weights than this app, or the server's owner, lets anybody load
    FOLDERS_FORBIDDEN = "folders_forbidden"  # the server's owner lets no folders be opened
    DOWNLOADS_FORBIDDEN = "downloads_forbidden"  # the server's owner lets nothing be downloaded
    NOT_DOWNLOADED = "not_downloaded"
    BUSY = "busy"  # somebody else is downloading the same model now
    CANCELLED = "cancelled"
    NO_NETWORK = "no_network"  # the hub cannot be reached, or the connection broke off
    NOT_FOUND = "not_found"  # the hub does not have the repository, the revision or the file
    HUB_ERROR = "hub_error"  # the hub answers, but with an error of its own
    NO_SPACE = "no_space"
    NOT_WRITABLE = "not_writable"  # the cache folder cannot be written to


class ModelError(Exception):
    """There is no model, for a reason that can be told in one sentence."""

    def __init__(self, reason: ModelProblem, message: str) -> None:
        super().__init__(message)
        self.reason = reason
