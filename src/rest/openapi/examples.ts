import type { ObjectSchema, Schema } from '../../core/base/schema.ts'

/** Default examples, by member name. All examples use the same company, document and users. */
const wellKnown: Readonly<Record<string, unknown>> = Object.assign(Object.create(null), {
  apiKey: 'key_example',
  organizationId: 'acme',
  organizationIds: ['acme'],
  folderId: 'reports',
  folderIds: ['reports'],
  parentFolderId: 'root',
  documentId: 'report',
  documentIds: ['report'],
  organizationUserGroupId: 'design',
  editorId: 'main',
  editorIds: ['main'],
  userId: 'ann',
  userIds: ['ann'],
  name: 'Ann',
  email: 'ann@example.com',
  contentKey: 'content',
  accessType: 'restricted',
  actionUser: { userId: 'ann', name: 'Ann' },
  annotationId: 'remark-1',
  commentId: 'comment-1',
  activityIds: ['signed-off'],
  actionType: 'document.sign_off',
  targetEntityId: 'report',
  timestamp: 1_767_225_600_000,
  version: '7c1f0a4e9b',
  stateVector: 'AZ7w0scBBQ==',
  lastUpdatedBy: 'ann',
  createdAt: 1_767_225_600_000,
  lastUpdated: 1_767_225_600_000,
  expiresAt: 4_102_444_800,
})

/**
 * Whether an example is for a request or a response. A request example has the required members and the
 * members that have an example; a response example has all members.
 */
type Side = 'request' | 'answer'

/**
 * Returns an example for `schema`: its own example, or one composed from its members.
 * @param name name of the member that the schema describes
 */
export function exampleOf(schema: Schema, side: Side, name = ''): unknown {
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.type === undefined)
    return schema.anyOf?.[0] === undefined ? null : exampleOf(schema.anyOf[0], side, name)
  if ('enum' in schema) return schema.enum?.find((value) => value === wellKnown[name]) ?? schema.enum?.[0]
  if ('default' in schema) return schema.default
  if (wellKnown[name] !== undefined) return wellKnown[name]
  switch (schema.type) {
    case 'object':
      return schema.properties === undefined
        ? { id: exampleOf(schema.additionalProperties, side) }
        : membersOf(schema, side)
    case 'array':
      return [exampleOf(schema.items, side)]
    case 'string':
      return schema.format === 'date-time' ? '2026-01-01T00:00:00.000Z' : 'text'
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return schema.minimum ?? 1
  }
}

function membersOf({ properties, required = [] }: ObjectSchema, side: Side): object {
  const shown = Object.entries(properties).filter(
    ([name, schema]) => side === 'answer' || required.includes(name) || schema.examples !== undefined,
  )
  return Object.fromEntries(shown.map(([name, schema]) => [name, exampleOf(schema, side, name)]))
}
