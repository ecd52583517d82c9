# Prepares the template database, in Odoo's shell. `admin_key` and `agent_key` are set above.
from odoo.addons.base.models.res_users import INDEX_SIZE, KEY_CRYPT_CONTEXT

def add_key(user, key):
    env.cr.execute(
        "INSERT INTO res_users_apikeys (name, user_id, scope, key, index) VALUES ('gateway', %s, 'rpc', %s, %s)",
        [user.id, KEY_CRYPT_CONTEXT.hash(key), key[:INDEX_SIZE]],
    )

# Attachments stand in the database, so that a copy of it is whole.
env['ir.config_parameter'].sudo().set_param('ir_attachment.location', 'db')
env['ir.attachment'].sudo().force_storage()

# The clock of the place is UTC, work centres run day and night, and quantities have three decimals.
calendar = env['resource.calendar'].create({'name': 'Day and night', 'tz': 'UTC', 'attendance_ids': [(5, 0, 0)] + [
    (0, 0, {'name': str(day), 'dayofweek': str(day), 'hour_from': 0, 'hour_to': 24, 'day_period': 'morning'}) for day in range(7)]})
company = env.company
company.write({'resource_calendar_id': calendar.id, 'account_sale_tax_id': False, 'account_purchase_tax_id': False})
company.partner_id.tz = 'UTC'
env['decimal.precision'].search([('name', '=', 'Product Unit')]).digits = 3

# One tax to fall for, no terms but those of a task, and the route that makes to order can be chosen.
env['account.payment.term'].search([]).active = False
for tax in env['account.tax'].search([]):
    if tax.type_tax_use == 'sale' and tax.amount == 15:
        tax.name = 'Sales Tax'
    else:
        tax.active = False
env.ref('stock.route_warehouse0_mto').active = True
for name in ('stock.route_warehouse0_mto', 'purchase_stock.route_warehouse0_buy', 'mrp.route_warehouse0_manufacture'):
    env.ref(name).product_selectable = True

# The planner has the rights of the managers whose work it does; the graders read as the administrator.
groups = ('base.group_user', 'sales_team.group_sale_manager', 'purchase.group_purchase_manager', 'stock.group_stock_manager',
          'mrp.group_mrp_manager', 'account.group_account_invoice', 'mrp.group_mrp_routings', 'base.group_partner_manager',
          'product.group_product_manager')
env.ref('base.group_user').write({'implied_ids': [(4, env.ref('mrp.group_mrp_routings').id)]})
users = env['res.users'].with_context(no_reset_password=True)
for login, name in (('planner', 'Back-Office Planner'), ('manager', 'Planning Manager')):
    user = users.create({'name': name, 'login': login, 'tz': 'UTC', 'group_ids': [(6, 0, [env.ref(group).id for group in groups])]})
    if login == 'planner':
        user.password = agent_key
        add_key(user, agent_key)
admin = env.ref('base.user_admin')
admin.write({'tz': 'UTC', 'password': admin_key})
add_key(admin, admin_key)
env.cr.commit()
print('template ready')
