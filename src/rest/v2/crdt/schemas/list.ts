import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { pageRequest, readPage } from '../../../paging/page-request.ts'
import { schemaEntry, toSchemaEntry } from '../../../schemas/schema-schema.ts'

const path = '/v2/crdt/schemas/list'

export const listSchemas = defineOperation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List the schemas of content',
  description: 'Ordered by name, without the schemas themselves and without the presets.',
  request: json.object({}, pageRequest),
  response: json.list(schemaEntry),
  async handler(data, context) {
    const { caller, services } = context
    const { found, token } = await readPage(context, [path], data, (range) =>
      services.schemas.list(caller.tenant, range),
    )
    return { message: `${found.items.length} schemas found.`, data: found.items.map(toSchemaEntry), ...token }
  },
})
