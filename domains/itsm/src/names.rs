//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        change, change_freeze, child_incident, ci_relationship, configuration_item, incident, incident_sla,
        incident_template, organization, service, service_ci, sla_definition, user, user_group
    }
    columns {
        active of incident_template, user;
        assignment_group of incident, incident_template;
        caller of incident;
        category of incident, incident_template;
        channel of incident;
        child of child_incident, ci_relationship;
        ci of change, incident, service_ci;
        criticality of service;
        description of incident;
        due_at of incident_sla;
        ends_at of change_freeze;
        impact of incident, incident_template;
        incident of incident_sla;
        metric of sla_definition;
        name of change_freeze, configuration_item, service;
        number of change, incident;
        org of change, change_freeze, configuration_item, incident, user, user_group;
        parent of child_incident, ci_relationship;
        planned_end of change;
        planned_start of change;
        priority of incident;
        service of change, change_freeze, incident, incident_template, service_ci;
        short_description of change, incident, incident_template;
        sla of incident_sla;
        stage of incident_sla;
        starts_at of change_freeze;
        status of change, incident, service;
        urgency of incident, incident_template;
    }
    words {
        canceled of change.status, incident.status;
        closed of change.status, incident.status;
        in_progress of incident.status, incident_sla.stage;
        new of change.status, incident.status;
        on_hold of incident.status;
        review of change.status;
    }
    arguments {
        assignment_group, caller, change, channel, children, ci, description, ends_at, org, parent, starts_at,
        template, within_minutes
    }
}
