//! Exports of worlds to formats that other programs read, one file each.
