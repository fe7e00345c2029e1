"""Heavy libraries are imported in the background, so that the first page appears at once."""

import gc
import os
import threading

import streamlit as st


@st.cache_resource(show_spinner=False)
def start() -> threading.Event:
    """Import torch and transformers once per server; the event is set when they are there.

    Streamlit collects garbage after every run. What has been imported by then never becomes garbage, but would be
    searched each time, which costs more than most pages: so it is collected once and frozen.
    """
    done = threading.Event()

    def load() -> None:
        try:
            # A thread that has not asked torch for its number of threads yet, as each new session's has not, takes all
            # cores for a product of matrices, whatever set_num_threads said: on a busy server 70 s instead of 0.6 s.
            os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is loaded
            import torch
            from transformers import BertModel, MarianMTModel, T5ForConditionalGeneration  # noqa: F401  (side effects)

            torch.set_num_threads(1)  # many small computations at once share the cores better than one that takes all
            freeze()
        finally:
            done.set()  # should an import fail, the page that needs it says so

    threading.Thread(target=load, name="warm", daemon=True).start()
    return done


def freeze() -> None:
    """Take all that is alive now out of the garbage collector's sight: call it after something large was loaded."""
    gc.collect()
    gc.freeze()
