//! The names that the tools of a planner's desk use. Tables of forms are the domain's own, and have none here.

benchwright_sandbox::names! {
    tables { file, handed, stage }
    arguments { csv, form, limit, offset, path, rows, sheet, r#where }
    fixed {
        file { path = 1, media = 2, stage = 3, body = 4 }
        handed { form = 1, stage = 2, revision = 3 }
        stage { current = 1, last = 2, forms = 3 }
    }
}
