"""What is said of a training: how far it is, its place in the queue, how it ended; and of all seeds of a comparison."""

from core.labs.desk import Desk
from core.labs.shipped import Shipped
from core.labs.training import Reason, State, Training
from pages.components.i18n import _, ngettext


def progress(training: Training, *, other: bool) -> str:
    """Of one that runs. other: with other settings than those of the controls."""
    done, total = training.progress
    loss, rate, left = training.loss, training.tokens_per_second, training.seconds_left
    if loss is None:
        said = _("Starting…")
    elif rate is None or left is None:
        said = _("Step {done:,} of {total:,} · loss {loss:.2f}").format(done=done, total=total, loss=loss)
    else:
        said = _(
            "Step {done:,} of {total:,} · loss {loss:.2f} · {rate:,.0f} tokens per second · about {left:.0f} s left"
        ).format(done=done, total=total, loss=loss, rate=rate, left=left)
    return _with_other(said, other)


def queued(training: Training, running: int, *, other: bool) -> str:
    """Of one that waits, while so many run."""
    place = training.place
    before = running + place - 1
    if place == 0:  # its turn has just come
        return _with_other(_("Starting…"), other)
    said = ngettext(
        "You are number {place} in the queue: {before} training comes before yours.",
        "You are number {place} in the queue: {before} trainings come before yours.",
        before,
    ).format(place=place, before=before)
    return _with_other(said, other)


def _with_other(said: str, other: bool) -> str:
    return _("Under way, with other settings than these: {progress}").format(progress=said) if other else said


def ended(training: Training, desk: Desk) -> str:
    """Of one that is over, and which is shown if it has any steps."""
    done, total = training.progress
    if training.state is State.FINISHED:
        return ngettext(
            "Your run: {total:,} step in {seconds:.0f} s.", "Your run: {total:,} steps in {seconds:.0f} s.", total
        ).format(total=total, seconds=training.seconds)
    if training.reason is Reason.ASKED:
        return _("Your run, stopped after {done:,} of {total:,} steps.").format(done=done, total=total)
    return _failure(training, desk)


def forbidden() -> str:
    return _("This server trains nothing: whoever runs it has switched that off.")


def _failure(training: Training, desk: Desk) -> str:
    match training.reason:
        case Reason.FORBIDDEN:
            return forbidden()
        case Reason.FULL:
            return ngettext(
                "The queue is full: {count} training waits already. Try again in a few minutes.",
                "The queue is full: {count} trainings wait already. Try again in a few minutes.",
                desk.waiting,
            ).format(count=desk.waiting)
        case Reason.KILLED:
            return _(
                "The training’s process was ended from outside, as it happens when a server runs out of memory. Press "
                "Start to try again."
            )
        case Reason.DIVERGED:
            done = training.progress[0]
            return _("The loss grew beyond all numbers after {done:,} steps: the training diverged.").format(done=done)
        case Reason.TIME:
            return _(
                "The training was ended after {seconds:.0f} seconds, the most that this server allows. Choose fewer "
                "steps or a smaller model."
            ).format(seconds=desk.seconds)
        case Reason.SIZE:
            return _("The training was ended: it is larger than this server allows.")
        case Reason.ABSENT:
            return _("The training was stopped: for a while nobody was there to see it.")
        case Reason.CLOSED:
            return _("The training was stopped: the server ends.")
    return _("The training ended with an error; the server’s log says which. Press Start to try again.")


# ------------------------------------------------------------------------------------------------------- all seeds


def not_compared() -> str:
    """Where the comparison is missing."""
    return _("The comparison over several seeds does not ship with this copy of the app.")


def compared(ships: Shipped, seeds: int) -> str:
    """What curves of all seeds show, and where they come from."""
    return ngettext(
        "Means over {seeds} seed, with the least and the largest; made on {date} by {program}.",
        "Means over {seeds} seeds, with the least and the largest; made on {date} by {program}.",
        seeds,
    ).format(seeds=seeds, date=ships.made, program=ships.program)
