"""What every test starts from."""

import torch

torch.set_num_threads(1)  # tiny tensors: threads would only get in each other's way
