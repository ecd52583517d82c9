//! The macros that make types of a list of names. They are long only because each kind of name has its own.

/// Lists the names that the native code of a crate uses, in a module of its own. It makes a module of types for tables (`t`),
/// columns (`c`), words of enums (`w`) and arguments (`a`); one for columns whose places are fixed (`f`); and `NAMES`, which
/// [`natives!`](crate::natives!) takes.
///
/// A column is listed once, with the tables whose column it is; a word once, with the columns that have it.
#[macro_export]
macro_rules! names {
    (
        tables { $($table:ident),* $(,)? }
        $(columns { $($column:ident of $($in_table:ident),+;)* })?
        $(words { $($word:ident of $($of_table:ident . $of_column:ident),+;)* })?
        $(arguments { $($argument:ident),* $(,)? })?
        $(fixed { $($fixed_table:ident { $($fixed:ident = $place:literal),* $(,)? })* })?
    ) => {
        /// The names that the code of this crate uses.
        pub const NAMES: $crate::Names = $crate::Names {
            of: env!("CARGO_PKG_NAME"),
            tables: &[$(stringify!($table)),*],
            columns: &[$($($((stringify!($in_table), stringify!($column)),)+)*)?],
            words: &[$($($((stringify!($of_table), stringify!($of_column), stringify!($word)),)+)*)?],
            arguments: &[$($(stringify!($argument)),*)?],
            fixed: &[$($($((stringify!($fixed_table), stringify!($fixed), $place),)*)*)?],
            check: None,
        };

        /// Tables.
        #[expect(non_camel_case_types, reason = "they are called as the domain calls them")]
        pub mod t {
            $(
                #[doc = concat!("The table `", stringify!($table), "`.")]
                #[derive(Clone, Copy, Default, Debug)]
                pub struct $table;
                impl $crate::Table for $table {
                    const SLOT: u16 = super::NAMES.table(stringify!($table));
                    const NAME: &'static str = stringify!($table);
                }
            )*
        }

        $(
            /// Columns.
            #[expect(non_camel_case_types, reason = "they are called as the domain calls them")]
            pub mod c {
                $(
                    #[doc = concat!("The column `", stringify!($column), "`.")]
                    #[derive(Clone, Copy, Debug)]
                    pub struct $column;
                    $(
                        impl $crate::ColumnOf<super::t::$in_table> for $column {
                            #[inline]
                            fn slot(self) -> u16 {
                                const { super::NAMES.column(stringify!($in_table), stringify!($column)) }
                            }
                        }
                    )+
                )*
            }
        )?

        $(
            /// Words of enums.
            #[expect(non_camel_case_types, reason = "they are called as the domain calls them")]
            pub mod w {
                $(
                    #[doc = concat!("The word `", stringify!($word), "`.")]
                    #[derive(Clone, Copy, Debug)]
                    pub struct $word;
                    $(
                        impl $crate::WordOf<super::t::$of_table, super::c::$of_column> for $word {
                            #[inline]
                            fn slot(self) -> u16 {
                                const {
                                    let (table, column) = (stringify!($of_table), stringify!($of_column));
                                    super::NAMES.word(table, column, stringify!($word))
                                }
                            }
                        }
                    )+
                )*
            }
        )?

        $(
            /// Arguments of tools.
            #[expect(non_upper_case_globals, reason = "they are called as the domain calls them")]
            pub mod a {
                $(
                    #[doc = concat!("The argument `", stringify!($argument), "`.")]
                    pub const $argument: $crate::ArgumentName =
                        $crate::ArgumentName::new(&super::NAMES, stringify!($argument));
                )*
            }
        )?

        $(
            /// Columns whose places are fixed.
            #[expect(non_upper_case_globals, reason = "they are called as the domain calls them")]
            pub mod f {
                $(
                    #[doc = concat!("Columns of `", stringify!($fixed_table), "`.")]
                    pub mod $fixed_table {
                        $(
                            #[doc = concat!("The column `", stringify!($fixed), "`.")]
                            pub const $fixed: $crate::FieldId = $crate::FieldId($place);
                        )*
                    }
                )*
            }
        )?
    };
}

/// The native tools of a crate, by name, with the names that their code uses: `natives![NAMES; ("sell_out", sell_out)]`.
#[macro_export]
macro_rules! natives {
    ($names:expr; $(($name:expr, $code:expr)),* $(,)?) => {
        {
            static NAMED: $crate::Names = $names;
            &[$($crate::NativeTool { name: $name, code: $code, names: &NAMED }),*]
        }
    };
}

/// Columns of one table as a list of values: `columns![name, status].map(|column| row.get(column))`.
#[macro_export]
macro_rules! columns {
    ($($column:ident),+ $(,)?) => { [$($crate::ColumnOf::of(c::$column)),+] };
}

/// Words of one column as a list of values.
#[macro_export]
macro_rules! words {
    ($($word:ident),+ $(,)?) => { [$($crate::WordOf::of(w::$word)),+] };
}
