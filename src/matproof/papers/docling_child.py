"""One PDF through Docling's standard pipeline. `docling` starts it in a process of its own, perhaps of another Python.

Only `core` and `papers` may be imported here beside Docling and what it brings (pydantic, PyYAML, pypdfium2 among it).
"""

import json
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matproof.core.files import write_text
from matproof.papers.exponents import recovered
from matproof.papers.figures import CAPTION
from matproof.papers.markers import PAGE, figure_block, page_marker
from matproof.papers.reading import MAX_PAGES, UnreadableError, read_pdf

PROBLEM = 3
"""Exit status where Docling could not convert the PDF; the last line of standard error says why."""
_MAX_FILE_BYTES = 64_000_000
_PICTURE = "⟦picture⟧"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done; paths are absolute."""

    pdf: str
    out: str
    """Markdown to write."""
    figures: str | None
    """Directory for pictures."""
    models: str
    tables: bool
    """Whether there is the model for tables."""
    formulas: bool
    """Whether there is the model for formulas."""


def let_torchvision_load() -> object:
    """Declare two operators of torchvision, and return what must stay alive for them to last.

    PyPI's torchvision is built for CUDA. Beside a CPU build of torch its compiled half can't be loaded, and its Python
    half then fails at import (`operator torchvision::nms does not exist`), and with it transformers and all of
    Docling's pipeline. Declared, they need no definition: Docling never calls them. Must come before other imports.
    """
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        try:
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            break  # a torchvision that fits its torch has them
    return library


def convert(order: Order) -> str:
    """The PDF's Markdown; pictures are written to the order's directory."""
    kept_alive = let_torchvision_load()
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import PdfPipelineOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption

    options = PdfPipelineOptions(
        artifacts_path=order.models,
        do_ocr=False,
        do_table_structure=order.tables,
        do_formula_enrichment=order.formulas,
        generate_picture_images=order.figures is not None,
        images_scale=150 / 72,
    )
    converter = DocumentConverter(format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=options)})
    document = converter.convert(order.pdf, max_num_pages=MAX_PAGES).document
    del kept_alive
    seen = _seen(Path(order.pdf))
    names: list[str] = []
    parts: list[str] = []
    for number in sorted(document.pages):
        text = document.export_to_markdown(
            page_no=number, image_placeholder=_PICTURE, escape_html=False, escape_underscores=False
        )
        text = text.replace("<!-- formula-not-decoded -->", "[formula not decoded]").replace("<!--", "&lt;!--").strip()
        text = recovered(text, seen.get(number, ""))
        for picture in _pictures(document, number):
            block = _block(document, picture, number, order, names)
            text = text.replace(_PICTURE, block, 1) if _PICTURE in text else f"{text}\n\n{block}"
        parts += [page_marker(number, empty=not text.strip()), text.replace(_PICTURE, "").strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _seen(pdf: Path) -> dict[int, str]:
    """What the light parser reads on each page: it sees which characters are raised."""
    try:
        pieces = PAGE.split(read_pdf(pdf))
    except UnreadableError:
        return {}
    return {int(number): text for number, text in zip(pieces[1::2], pieces[2::2], strict=True)}


def _pictures(document: Any, number: int) -> list[Any]:
    """The page's pictures in reading order."""
    from docling_core.types.doc import PictureItem

    items = (item for item, _ in document.iterate_items(page_no=number))
    return [item for item in items if isinstance(item, PictureItem)]


def _block(document: Any, picture: Any, page: int, order: Order, names: list[str]) -> str:
    caption = CAPTION.match(picture.caption_text(document) + " ")
    number = caption[1] if caption else None
    image = picture.get_image(document) if order.figures is not None else None
    name = None
    if image is not None and order.figures is not None:
        stem = f"page-{page}-" + (f"figure-{number}" if number else "picture")
        tried = (f"{stem}.png", *(f"{stem}-{again}.png" for again in range(2, len(names) + 3)))
        name = next(each for each in tried if each not in names)
        names.append(name)
        image.save(Path(order.figures, name))
    return figure_block(name, number, page, _text_in(document, picture, order.pdf))


def _text_in(document: Any, picture: Any, pdf: str) -> str:
    """What is written in the picture."""
    import pypdfium2

    place = picture.prov[0]
    box = place.bbox.to_bottom_left_origin(document.pages[place.page_no].size.height)
    with pypdfium2.PdfDocument(pdf) as file:
        return " · ".join(file[place.page_no - 1].get_textpage().get_text_bounded(*box.as_tuple()).split("\r\n"))


def main(order: str) -> int:
    """Do what the JSON says."""
    for limit, most in ((resource.RLIMIT_FSIZE, _MAX_FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))
    wanted = Order(**json.loads(order))
    try:
        text = convert(wanted)
    except Exception as error:  # whatever Docling raises, and its models' libraries
        sys.stderr.write(
            f"Docling could not convert it: {type(error).__name__}: {' '.join(str(error).split())[:200]}\n"
        )
        return PROBLEM
    write_text(Path(wanted.out), text)
    return 0
