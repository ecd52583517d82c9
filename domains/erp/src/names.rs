//! The names that the native tools use, as the domain's tables and tools declare them.

benchwright_sandbox::names! {
    tables {
        account_move, account_move_line, account_move_line_account_tax_rel, account_payment_term_line, account_tax,
        ir_config_parameter, mail_message, mrp_bom, mrp_bom_line, mrp_production, mrp_routing_workcenter,
        mrp_workcenter, mrp_workcenter_alternative, mrp_workorder, product_product, product_supplierinfo,
        purchase_order, purchase_order_line, purchase_order_line_tax, res_partner, res_users,
        sale_advance_payment_inv, sale_advance_payment_order, sale_order, sale_order_line,
        sale_order_line_invoice_rel, sale_order_line_tax, stock_location, stock_move, stock_picking, stock_quant,
        stock_route_product, stock_rule
    }
    columns {
        action of stock_rule;
        active of mrp_bom, mrp_routing_workcenter;
        advance_payment_method of sale_advance_payment_inv;
        alternative_workcenter_id of mrp_workcenter_alternative;
        amount of account_tax, sale_advance_payment_inv;
        author_id of mail_message;
        body of mail_message;
        bom_id of mrp_bom_line, mrp_production, mrp_routing_workcenter;
        bom_line_id of stock_move;
        client_order_ref of sale_order;
        code of mrp_bom;
        commitment_date of sale_order;
        consumption of mrp_production;
        date of stock_move;
        date_approve of purchase_order;
        date_deadline of mrp_production, stock_move;
        date_done of stock_picking;
        date_end of product_supplierinfo;
        date_finished of mrp_production, mrp_workorder;
        date_order of purchase_order, sale_order;
        date_planned of purchase_order, purchase_order_line;
        date_start of mrp_production, mrp_workorder, product_supplierinfo;
        deduct_down_payments of sale_advance_payment_inv;
        default_code of product_product;
        delay of product_supplierinfo;
        discount of account_move_line, product_supplierinfo, purchase_order_line, sale_order_line;
        display_type of account_move_line, purchase_order_line, sale_order_line;
        fixed_amount of sale_advance_payment_inv;
        inventory_quantity of stock_quant;
        inventory_quantity_set of stock_quant;
        invoice_date of account_move;
        invoice_date_due of account_move;
        invoice_line_id of sale_order_line_invoice_rel;
        invoice_origin of account_move;
        invoice_payment_term_id of account_move;
        invoice_policy of product_product;
        is_downpayment of account_move_line, sale_order_line;
        is_inventory of stock_move;
        is_planned of mrp_production;
        is_storable of product_product;
        key of ir_config_parameter;
        line_id of account_move_line_account_tax_rel, purchase_order_line_tax, sale_order_line_tax;
        list_price of product_product;
        location_dest_id of stock_move, stock_picking;
        location_id of stock_location, stock_move, stock_picking, stock_quant;
        locked of sale_order;
        min_qty of product_supplierinfo;
        model of mail_message;
        move_id of account_move_line;
        move_type of account_move;
        name of account_move, account_move_line, mrp_production, mrp_routing_workcenter, mrp_workorder,
            product_product, purchase_order, purchase_order_line, res_users, sale_order, sale_order_line,
            stock_location, stock_picking;
        nb_days of account_payment_term_line;
        operation_id of mrp_workorder;
        order_id of purchase_order_line, sale_advance_payment_order, sale_order_line;
        order_line_id of sale_order_line_invoice_rel;
        origin of mrp_production, sale_order, stock_move, stock_picking;
        partner_id of account_move, product_supplierinfo, purchase_order, sale_order, stock_picking;
        payment_id of account_payment_term_line;
        payment_term_id of purchase_order, sale_order;
        picking_id of stock_move;
        picking_type_code of stock_picking;
        price of product_supplierinfo;
        price_unit of account_move_line, purchase_order_line, sale_order_line;
        procure_method of stock_rule;
        produce_delay of mrp_bom;
        product_id of account_move_line, mrp_bom, mrp_bom_line, mrp_production, product_supplierinfo,
            purchase_order_line, sale_order_line, stock_move, stock_quant, stock_route_product;
        product_qty of mrp_bom, mrp_bom_line, mrp_production, purchase_order_line;
        product_tmpl_id of mrp_bom, product_supplierinfo;
        product_uom_qty of sale_order_line, stock_move;
        production_id of mrp_workorder, stock_move;
        property_payment_term_id of res_partner;
        property_supplier_payment_term_id of res_partner;
        purchase_id of stock_picking;
        purchase_line_id of account_move_line, stock_move;
        qty_producing of mrp_production;
        quantity of account_move_line, stock_move, stock_quant;
        raw_material_production_id of stock_move;
        r#ref of account_move;
        reference of stock_move;
        res_id of mail_message;
        route_id of stock_route_product, stock_rule;
        sale_id of stock_picking;
        sale_line_id of stock_move;
        scheduled_date of stock_picking;
        sequence of account_move_line, mrp_bom, mrp_routing_workcenter, mrp_workorder, product_supplierinfo,
            purchase_order_line, sale_order_line;
        standard_price of product_product;
        state of account_move, mrp_production, mrp_workorder, purchase_order, sale_order, stock_move, stock_picking;
        tax_id of account_move_line_account_tax_rel, purchase_order_line_tax, sale_order_line_tax;
        technical_price_unit of purchase_order_line, sale_order_line;
        time_cycle_manual of mrp_routing_workcenter;
        time_efficiency of mrp_workcenter;
        r#type of mrp_bom, product_product;
        usage of stock_location;
        user_id of mrp_production, purchase_order, sale_order;
        validity_date of sale_order;
        wizard_id of sale_advance_payment_order;
        workcenter_id of mrp_routing_workcenter, mrp_workcenter_alternative, mrp_workorder;
    }
    words {
        assigned of stock_move.state, stock_picking.state;
        blocked of mrp_workorder.state;
        cancel of account_move.state, mrp_production.state, mrp_workorder.state, purchase_order.state,
            sale_order.state, stock_move.state, stock_picking.state;
        confirmed of mrp_production.state, stock_move.state, stock_picking.state;
        consu of product_product.r#type;
        customer of stock_location.usage;
        delivered of sale_advance_payment_inv.advance_payment_method;
        delivery of product_product.invoice_policy;
        done of mrp_production.state, mrp_workorder.state, stock_move.state, stock_picking.state;
        draft of account_move.state, mrp_production.state, purchase_order.state, sale_order.state, stock_move.state,
            stock_picking.state;
        entry of account_move.move_type;
        in_invoice of account_move.move_type;
        in_refund of account_move.move_type;
        incoming of stock_picking.picking_type_code;
        internal of stock_location.usage, stock_picking.picking_type_code;
        inventory of stock_location.usage;
        line_section of account_move_line.display_type, purchase_order_line.display_type, sale_order_line.display_type;
        make_to_order of stock_rule.procure_method;
        manufacture of stock_rule.action;
        normal of mrp_bom.r#type;
        out_invoice of account_move.move_type;
        out_refund of account_move.move_type;
        outgoing of stock_picking.picking_type_code;
        partially_available of stock_move.state;
        percentage of sale_advance_payment_inv.advance_payment_method;
        posted of account_move.state;
        product of account_move_line.display_type;
        production of stock_location.usage;
        progress of mrp_production.state, mrp_workorder.state;
        purchase of purchase_order.state;
        ready of mrp_workorder.state;
        sale of sale_order.state;
        sent of purchase_order.state, sale_order.state;
        supplier of stock_location.usage;
        to_close of mrp_production.state;
        waiting of stock_move.state, stock_picking.state;
        warning of mrp_production.consumption;
    }
    arguments {
        allfields, attributes, body, context, domain, fields, ids, limit, offset, order, vals, vals_list
    }
}
