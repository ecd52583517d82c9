//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        case_sla, hr_case, hr_case_task, hr_profile, hr_service, hr_task_template, leave_balance, leave_request,
        leave_type, security_audit, user_group
    }
    columns {
        action of security_audit;
        actor of security_audit;
        assigned_to of hr_case;
        assignment_group of hr_case, hr_case_task, hr_task_template;
        bank_account of hr_profile;
        case of case_sla;
        days of leave_request;
        days_left of leave_balance;
        due_on of case_sla, hr_case;
        escalation of hr_case;
        field of security_audit;
        first_day of leave_request;
        home_address of hr_profile;
        hr_service of hr_case;
        last_day of leave_request;
        leave_type of leave_balance, leave_request;
        mandatory of hr_case_task, hr_task_template;
        name of hr_service, hr_task_template;
        national_tax_id of hr_profile;
        number of hr_case;
        paid of leave_type;
        parent_case of hr_case, hr_case_task;
        profile of leave_balance, leave_request, security_audit;
        rank of hr_task_template;
        short_description of hr_case, hr_case_task;
        stage of case_sla;
        state of leave_request;
        status of hr_case;
        task_type of hr_case_task, hr_task_template;
        template of hr_case_task, hr_service, hr_task_template;
        year of leave_balance;
    }
    words {
        approved of leave_request.state;
        awaiting_acceptance of hr_case.status;
        awaiting_approval of hr_case.status;
        cancelled of hr_case.status, leave_request.state;
        draft of hr_case.status;
        ready of hr_case.status, hr_case_task.state;
        running of case_sla.stage;
        update of security_audit.action;
        work_in_progress of hr_case.status, hr_case_task.state;
    }
    arguments {
        assignment_group, bank_account, case, decision, home_address, national_tax_id, profile, request
    }
}
