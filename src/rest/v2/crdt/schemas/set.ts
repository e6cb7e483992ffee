import { json } from '../../../../core/base/schema.ts'
import { schemaLengthMax, schemasMax } from '../../../../core/directory/schemas/schema-service.ts'
import { defineOperation } from '../../../operation.ts'
import { contentSchemaName, schemaDefinition, schemaVersion } from '../../../schemas/schema-schema.ts'

export const setSchema = defineOperation({
  path: '/v2/crdt/schemas/set',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  grows: 'records',
  summary: 'Store a schema of content',
  description:
    'Stores a schema under a name, or replaces it. The member `schema` of a write then attaches it to an editor. ' +
    'The default version is that of the replaced schema, or 1. Replacing does not check existing content. ' +
    `An API key has at most ${schemasMax} schemas, each of at most ${schemaLengthMax} characters.`,
  request: json.object({ name: contentSchemaName, schema: schemaDefinition }, { version: schemaVersion }),
  response: json.object({
    name: json.text(),
    created: json.boolean('False if the schema replaced another one.'),
  }),
  errors: [{ code: 'schema/too-many', when: 'the API key has the maximum number of schemas' }],
  async handler({ name, schema, version }, { caller, services }) {
    const created = await services.schemas.set(caller.tenant, name, schema, version)
    return { message: 'Schema stored.', data: { name, created } }
  },
})
