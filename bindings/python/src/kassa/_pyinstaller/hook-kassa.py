"""PyInstaller's hook: what a frozen program needs of Kassa that its imports do not show.

The native library goes next to the generated module, which loads it from there; ``kassa.__version__`` is in the metadata.
"""

from PyInstaller.utils.hooks import collect_dynamic_libs, copy_metadata

binaries = collect_dynamic_libs("kassa")
datas = copy_metadata("kassa")
