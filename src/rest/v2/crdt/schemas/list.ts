import { json } from '../../../../core/base/schema.ts'
import type { PageRange } from '../../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../../operation.ts'
import { answerPage, pageRequest } from '../../../paging/page-request.ts'
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
    const list = (range: PageRange) => services.schemas.list(caller.tenant, range)
    return answerPage(context, [path], data, list, ['schemas', toSchemaEntry])
  },
})
