"""A layout model of 0.2 million random weights in the place of Docling's own, to try how models are loaded offline.

usage: PYTHON-WITH-DOCLING tiny_layout_model.py SOURCE-OF-MATPROOF DIR [LABEL]

What it finds is nonsense; with LABEL it is sure to see that label everywhere.
"""

import sys
from pathlib import Path


def main(source: str, folder: str, everywhere: str | None = None) -> None:
    """Write `DIR/docling-project--docling-layout-heron`."""
    sys.path.insert(0, source)
    from matproof.papers.docling_child import let_torchvision_load

    kept_alive = let_torchvision_load()
    import torch
    from docling_core.types.doc import DocItemLabel
    from transformers import (
        RTDetrImageProcessor,
        RTDetrResNetConfig,
        RTDetrV2Config,
        RTDetrV2ForObjectDetection,
    )

    torch.manual_seed(0)
    names = "caption footnote formula list_item page_footer page_header picture section_header table text title"
    labels = [DocItemLabel(name).value for name in names.split()]
    backbone = RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = RTDetrV2Config(
        backbone_config=backbone,
        d_model=32,
        encoder_hidden_dim=32,
        encoder_in_channels=[8, 16, 16],
        encoder_ffn_dim=32,
        encoder_layers=1,
        encoder_attention_heads=2,
        decoder_in_channels=[32, 32, 32],
        decoder_ffn_dim=32,
        decoder_layers=2,
        decoder_attention_heads=2,
        num_queries=20,
        num_denoising=0,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = RTDetrV2ForObjectDetection(config)
    if everywhere is not None:
        with torch.no_grad():
            for head in model.model.decoder.class_embed:
                head.bias.fill_(-6)
                head.bias[labels.index(everywhere)] = 3
    place = Path(folder, "docling-project--docling-layout-heron")
    model.save_pretrained(place)
    RTDetrImageProcessor(size={"height": 640, "width": 640}).save_pretrained(place)
    del kept_alive


if __name__ == "__main__":
    main(*sys.argv[1:])
