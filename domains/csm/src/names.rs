//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        account, case_sla, customer_case, entitlement, sla_definition
    }
    columns {
        account of customer_case;
        case of case_sla;
        due_at of case_sla;
        entitlement of customer_case;
        max_cases_per_month of entitlement;
        metric of sla_definition;
        number of account, customer_case;
        opened_on of customer_case;
        sla of case_sla;
        stage of case_sla;
        state of customer_case;
    }
    words {
        in_progress of customer_case.state;
        new of customer_case.state;
        pending of customer_case.state;
        running of case_sla.stage;
    }
    arguments {
        account, entitlement, within_minutes
    }
}
