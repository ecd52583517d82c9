//! The calls into the two C libraries, each behind a safe function. Nothing else in the workspace is unsafe.
#![expect(unsafe_code, reason = "the solvers are C libraries that are opened at run time")]

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::Path,
    ptr, slice,
};

unsafe extern "C" {
    fn free(pointer: *mut c_void);
}

/// Opens a library for the rest of the process: neither solver can be closed safely, and its functions must stay.
fn open(file: &Path) -> Result<&'static Library, String> {
    // SAFETY: the initialisers of these libraries register types and flags of their own and touch nothing of ours.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
    library.map(|library| &*Box::leak(Box::new(library))).map_err(|error| error.to_string())
}

/// Lets what C code prints go to standard error. HiGHS 1.12.0 prints a stray line now and then, whatever its options say,
/// and standard output is for data. Rust's own output does not pass through C's.
fn quiet_c_output() {
    let program = Library::this();
    // SAFETY: both names, where they exist, are variables of the C library that hold a stream each.
    unsafe {
        let stdout = program.get::<*mut *mut c_void>(b"stdout\0");
        let stderr = program.get::<*mut *mut c_void>(b"stderr\0");
        if let (Ok(stdout), Ok(stderr)) = (stdout, stderr) {
            **stdout = **stderr;
        }
    }
}

/// A function of a library.
///
/// # Safety
/// `F` must be the type of the C function of that name.
unsafe fn function<F: Copy>(library: &'static Library, name: &str) -> Result<F, String> {
    // SAFETY: the caller vouches for the type.
    unsafe { library.get::<F>(name.as_bytes()) }.map(|symbol| *symbol).map_err(|error| error.to_string())
}

type SolveCp = unsafe extern "C" fn(*const c_void, c_int, *const c_void, c_int, *mut *mut c_void, *mut c_int);
type Number = unsafe extern "C" fn() -> c_int;

/// `libortools`: CP-SAT.
#[derive(Clone, Copy)]
pub(crate) struct Ortools {
    solve: SolveCp,
    version: [Number; 3],
}

impl Ortools {
    pub(crate) fn open(file: &Path) -> Result<Ortools, String> {
        let library = open(file)?;
        // The versions are C++ functions without arguments that return an int; such a call is the same as in C.
        let version = |part: &str| format!("_ZN19operations_research19OrTools{part}VersionEv");
        // SAFETY: the types are those of the library's C header, and of its version header.
        unsafe {
            Ok(Ortools {
                solve: function(library, "SolveCpModelWithParameters")?,
                version: [
                    function(library, &version("Major"))?,
                    function(library, &version("Minor"))?,
                    function(library, &version("Patch"))?,
                ],
            })
        }
    }

    /// Solves a serialized model with serialized parameters; gives the serialized response.
    pub(crate) fn solve(&self, model: &[u8], parameters: &[u8]) -> Result<Vec<u8>, String> {
        let length = |bytes: &[u8]| c_int::try_from(bytes.len()).map_err(|_| "the model is too large".to_owned());
        let (model_length, parameters_length) = (length(model)?, length(parameters)?);
        let (mut response, mut response_length) = (ptr::null_mut(), 0);
        // SAFETY: both inputs are valid for their lengths and only read; both outputs are valid to write to.
        unsafe {
            (self.solve)(
                model.as_ptr().cast(),
                model_length,
                parameters.as_ptr().cast(),
                parameters_length,
                &mut response,
                &mut response_length,
            );
        }
        let Ok(response_length) = usize::try_from(response_length) else {
            return Err("the response has a negative length".to_owned());
        };
        if response.is_null() {
            return Err("there was no response".to_owned());
        }
        // SAFETY: the library made the response with malloc, of this length, and gave it to us.
        unsafe {
            let bytes = slice::from_raw_parts(response.cast::<u8>(), response_length).to_vec();
            free(response);
            Ok(bytes)
        }
    }

    pub(crate) fn version(&self) -> String {
        // SAFETY: the functions take nothing and return a constant.
        let [major, minor, patch] = self.version.map(|part| unsafe { part() });
        format!("{major}.{minor}.{patch}")
    }
}

type Handle = *mut c_void;
type PassMip = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const f64,
    *const c_int,
    *const c_int,
    *const f64,
    *const c_int,
) -> c_int;

/// `libhighs`: a solver of mixed-integer programs.
#[derive(Clone, Copy)]
pub(crate) struct Highs {
    create: unsafe extern "C" fn() -> Handle,
    destroy: unsafe extern "C" fn(Handle),
    size_of_int: unsafe extern "C" fn(Handle) -> c_int,
    set_bool: unsafe extern "C" fn(Handle, *const c_char, c_int) -> c_int,
    set_int: unsafe extern "C" fn(Handle, *const c_char, c_int) -> c_int,
    set_double: unsafe extern "C" fn(Handle, *const c_char, f64) -> c_int,
    set_text: unsafe extern "C" fn(Handle, *const c_char, *const c_char) -> c_int,
    pass: PassMip,
    run: unsafe extern "C" fn(Handle) -> c_int,
    status: unsafe extern "C" fn(Handle) -> c_int,
    get_int: unsafe extern "C" fn(Handle, *const c_char, *mut c_int) -> c_int,
    get_long: unsafe extern "C" fn(Handle, *const c_char, *mut i64) -> c_int,
    get_double: unsafe extern "C" fn(Handle, *const c_char, *mut f64) -> c_int,
    solution: unsafe extern "C" fn(Handle, *mut f64, *mut f64, *mut f64, *mut f64) -> c_int,
    version: unsafe extern "C" fn() -> *const c_char,
}

/// A mixed-integer program by rows, all of whose columns are whole numbers.
#[derive(Default, Debug)]
pub(crate) struct Program {
    pub(crate) costs: Vec<f64>,
    pub(crate) lows: Vec<f64>,
    pub(crate) highs: Vec<f64>,
    pub(crate) row_lows: Vec<f64>,
    pub(crate) row_highs: Vec<f64>,
    /// Where each row begins among the entries.
    pub(crate) starts: Vec<c_int>,
    pub(crate) columns: Vec<c_int>,
    pub(crate) factors: Vec<f64>,
}

impl Program {
    /// The same with rows that may be bent, at a price for each unit.
    pub(crate) fn bent(&self, price: f64) -> Program {
        let (rows, columns) = (self.starts.len(), self.costs.len());
        let more = |of: &[f64], is: f64| -> Vec<f64> { of.iter().copied().chain(vec![is; 2 * rows]).collect() };
        let mut bent = Program {
            costs: more(&self.costs, price),
            lows: more(&self.lows, 0.0),
            highs: more(&self.highs, f64::INFINITY),
            row_lows: self.row_lows.clone(),
            row_highs: self.row_highs.clone(),
            ..Program::default()
        };
        for row in 0..rows {
            let from = self.starts[row] as usize;
            let to = self.starts.get(row + 1).map_or(self.columns.len(), |to| *to as usize);
            bent.starts.push(bent.columns.len() as c_int);
            bent.columns.extend_from_slice(&self.columns[from..to]);
            bent.factors.extend_from_slice(&self.factors[from..to]);
            for (side, factor) in [(0, 1.0), (1, -1.0)] {
                bent.columns.push((columns + 2 * row + side) as c_int);
                bent.factors.push(factor);
            }
        }
        bent
    }
}

/// An option and its value.
pub(crate) enum Setting {
    Bool(bool),
    Int(i32),
    Double(f64),
    Text(&'static str),
}

/// What a run of HiGHS left.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The model status, by HiGHS's number.
    pub(crate) status: i32,
    /// Whether there is a feasible point.
    pub(crate) has_point: bool,
    pub(crate) point: Vec<f64>,
    /// What each row is worth where no column need be whole; without meaning otherwise.
    pub(crate) prices: Vec<f64>,
    pub(crate) dual_bound: f64,
    pub(crate) nodes: i64,
}

impl Highs {
    pub(crate) fn open(file: &Path) -> Result<Highs, String> {
        let library = open(file)?;
        quiet_c_output();
        // SAFETY: the types are those of the library's C header, with `HighsInt` of the size checked below.
        let highs = unsafe {
            Highs {
                create: function(library, "Highs_create")?,
                destroy: function(library, "Highs_destroy")?,
                size_of_int: function(library, "Highs_getSizeofHighsInt")?,
                set_bool: function(library, "Highs_setBoolOptionValue")?,
                set_int: function(library, "Highs_setIntOptionValue")?,
                set_double: function(library, "Highs_setDoubleOptionValue")?,
                set_text: function(library, "Highs_setStringOptionValue")?,
                pass: function(library, "Highs_passMip")?,
                run: function(library, "Highs_run")?,
                status: function(library, "Highs_getModelStatus")?,
                get_int: function(library, "Highs_getIntInfoValue")?,
                get_long: function(library, "Highs_getInt64InfoValue")?,
                get_double: function(library, "Highs_getDoubleInfoValue")?,
                solution: function(library, "Highs_getSolution")?,
                version: function(library, "Highs_version")?,
            }
        };
        let instance = Instance::new(&highs)?;
        // SAFETY: the handle is live, and the function only reads it.
        let size = unsafe { (highs.size_of_int)(instance.handle) };
        drop(instance);
        if size as usize == size_of::<c_int>() { Ok(highs) } else { Err(format!("its numbers have {size} bytes")) }
    }

    pub(crate) fn version(&self) -> String {
        // SAFETY: the function returns a text that lives as long as the library.
        let text = unsafe { CStr::from_ptr((self.version)()) };
        text.to_string_lossy().into_owned()
    }

    /// Solves a program with these options.
    pub(crate) fn solve(&self, program: &Program, settings: &[(&str, Setting)]) -> Result<Outcome, String> {
        let instance = Instance::new(self)?;
        for (name, setting) in settings {
            instance.set(name, setting)?;
        }
        instance.pass(program)?;
        instance.run(program)
    }
}

/// One solver object, destroyed with its owner.
struct Instance<'a> {
    highs: &'a Highs,
    handle: Handle,
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle was made by `create` and is not used again.
        unsafe { (self.highs.destroy)(self.handle) }
    }
}

impl<'a> Instance<'a> {
    fn new(highs: &'a Highs) -> Result<Instance<'a>, String> {
        // SAFETY: the function takes nothing.
        let handle = unsafe { (highs.create)() };
        if handle.is_null() { Err("it made no solver".to_owned()) } else { Ok(Instance { highs, handle }) }
    }

    fn set(&self, name: &str, setting: &Setting) -> Result<(), String> {
        let key = text(name)?;
        // SAFETY: the handle is live, and the texts end in zero and outlive the call.
        let answer = unsafe {
            match setting {
                Setting::Bool(value) => (self.highs.set_bool)(self.handle, key.as_ptr(), c_int::from(*value)),
                Setting::Int(value) => (self.highs.set_int)(self.handle, key.as_ptr(), *value),
                Setting::Double(value) => (self.highs.set_double)(self.handle, key.as_ptr(), *value),
                Setting::Text(value) => {
                    let value = text(value)?;
                    (self.highs.set_text)(self.handle, key.as_ptr(), value.as_ptr())
                }
            }
        };
        if answer == 0 { Ok(()) } else { Err(format!("it refuses the option {name}")) }
    }

    fn pass(&self, program: &Program) -> Result<(), String> {
        const BY_ROWS: c_int = 2;
        const MINIMISE: c_int = 1;
        let (columns, rows, entries) = (program.costs.len(), program.starts.len(), program.columns.len());
        let is_whole = program.lows.len() == columns
            && program.highs.len() == columns
            && program.row_lows.len() == rows
            && program.row_highs.len() == rows
            && program.factors.len() == entries
            && program.starts.is_sorted()
            && program.starts.iter().all(|start| usize::try_from(*start).is_ok_and(|start| start <= entries))
            && program.columns.iter().all(|column| usize::try_from(*column).is_ok_and(|column| column < columns));
        let count = |number: usize| c_int::try_from(number).map_err(|_| "the program is too large".to_owned());
        let (columns, rows, entries) = (count(columns)?, count(rows)?, count(entries)?);
        if !is_whole {
            return Err("the program's parts do not fit together".to_owned());
        }
        let kinds = vec![1; program.costs.len()];
        // SAFETY: the handle is live; every array has the length that the counts say, which is checked above, and the
        // library copies them.
        let answer = unsafe {
            (self.highs.pass)(
                self.handle,
                columns,
                rows,
                entries,
                BY_ROWS,
                MINIMISE,
                0.0,
                program.costs.as_ptr(),
                program.lows.as_ptr(),
                program.highs.as_ptr(),
                program.row_lows.as_ptr(),
                program.row_highs.as_ptr(),
                program.starts.as_ptr(),
                program.columns.as_ptr(),
                program.factors.as_ptr(),
                kinds.as_ptr(),
            )
        };
        if answer == 0 { Ok(()) } else { Err("it refuses the program".to_owned()) }
    }

    fn run(&self, program: &Program) -> Result<Outcome, String> {
        const FEASIBLE: c_int = 2;
        // SAFETY: the handle is live and holds a program.
        let answer = unsafe { (self.highs.run)(self.handle) };
        if answer < 0 {
            return Err("the run failed".to_owned());
        }
        let key = |name: &str| text(name);
        let (mut point_status, mut nodes, mut dual_bound) = (0, 0, f64::NEG_INFINITY);
        // SAFETY: the handle is live, the names end in zero, and each result is of the type that the name has.
        let (status, answers) = unsafe {
            (
                (self.highs.status)(self.handle),
                [
                    (self.highs.get_int)(self.handle, key("primal_solution_status")?.as_ptr(), &mut point_status),
                    (self.highs.get_long)(self.handle, key("mip_node_count")?.as_ptr(), &mut nodes),
                    (self.highs.get_double)(self.handle, key("mip_dual_bound")?.as_ptr(), &mut dual_bound),
                ],
            )
        };
        if answers.iter().any(|answer| *answer < 0) {
            return Err("the run left no results".to_owned());
        }
        let has_point = point_status == FEASIBLE;
        let mut point = vec![0.0; program.costs.len()];
        let mut prices = vec![0.0; program.starts.len()];
        if has_point {
            let (mut costs, mut rows) = (point.clone(), prices.clone());
            // SAFETY: the handle is live, and the four arrays have as many places as there are columns and rows.
            let answer = unsafe {
                (self.highs.solution)(
                    self.handle,
                    point.as_mut_ptr(),
                    costs.as_mut_ptr(),
                    rows.as_mut_ptr(),
                    prices.as_mut_ptr(),
                )
            };
            if answer < 0 {
                return Err("the run left no point".to_owned());
            }
        }
        Ok(Outcome { status, has_point, point, prices, dual_bound, nodes })
    }
}

fn text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}
