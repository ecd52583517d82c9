//! The names that the tools of a grid use. They read whole rows by place, which is quickest, so the places are part of the list.

benchwright_sandbox::names! {
    tables { board, condition, item, label, meter, requirement, slot }
    arguments { col, field, id, ids, operator, row, value }
    fixed {
        board { rows = 1, cols = 2, done = 3, checks = 4 }
        condition { slot = 1, field = 2, op = 3, value = 4, word = 5 }
        item { candidate_of = 1, name = 3 }
        label { name = 2 }
        meter { left = 1 }
        requirement { measure = 1, field = 2, least = 3, row = 4, word = 5, given = 6, bound = 7 }
        slot { row = 1, col = 2, hidden = 3, item = 4, meter = 5 }
    }
}
