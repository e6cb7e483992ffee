import { publicKey } from '../support/data/openapi-example-data.ts'

/** Marks a member that may be null; null is removed meanwhile. */
const optional = Symbol('optional')

/** The part of a schema that this file changes. */
interface Schema {
  properties?: Members
  required?: readonly string[]
  items?: Schema
  enum?: readonly string[]
  type?: string
  format?: string
  anyOf?: readonly Schema[]
  [optional]?: true
}
type Members = Record<string, Schema>

interface Content {
  readonly 'application/json': { schema: Schema; examples?: { done?: { value: unknown } } }
}

interface Operation {
  /**
   * Header parameters of repeated calls. They are removed, because generated values would make calls repeated
   * ones.
   */
  parameters?: unknown
  readonly requestBody: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content: Content }>>
}

export interface OpenApi {
  /** The paths of operations have a `post` with a JSON body. */
  readonly paths: Record<string, { readonly post: Operation }>
}

/** Values of members that name existing objects, which a schema cannot express. */
const known: Readonly<Record<string, unknown>> = {
  organizationId: 'acme',
  organizationIds: ['acme'],
  folderId: 'reports',
  folderIds: ['reports'],
  parentFolderId: 'root',
  documentId: 'report',
  documentIds: ['report'],
  editorId: 'main',
  editorIds: ['main'],
  contentKey: 'content',
  userId: 'ann',
  userIds: ['ann', 'bob'],
  reviewerId: 'ann',
  groupId: 'design',
  groupIds: ['design'],
  organizationUserGroupId: 'design',
  activityIds: ['signed-off'],
  targetEntityId: 'report',
  annotationId: 'remark-1',
  annotationIds: ['remark-1'],
  locationIds: ['page-1'],
  commentId: 'comment-1',
  commentIds: ['comment-1'],
  reactionId: 'reaction-1',
  reactionIds: ['reaction-1'],
  position: 'AQdjb250ZW50AA==',
  positionEnd: 'AQdjb250ZW50AA==',
  notificationId: 'shared-2',
  notificationIds: ['shared-1'],
  workspaceId: 'ws_example',
  apiKey: 'key_example',
  endpointId: 'billing',
  uid: 'audit',
  url: 'https://example.com/webhooks',
  rawNotificationUrl: 'https://example.com/webhooks',
  processedNotificationUrl: '',
  publicKey,
  ownerEmail: 'ada@example.com',
  avatar: 'https://example.com/ada.png',
  // 2100-01-01, in Unix seconds.
  expiresAt: 4_102_444_800,
}
/** As `known`, for single operations. The text of the editor is `Hello`. */
const knownIn: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/v2/crdt/branches/delete': { name: 'draft' },
  '/v2/crdt/branches/diff': { name: 'draft' },
  '/v2/crdt/branches/get': { name: 'draft' },
  '/v2/crdt/branches/merge': { name: 'draft' },
  '/v2/crdt/branches/reject': { name: 'draft' },
  '/v2/crdt/edit': { find: 'Hello', with: 'Hello, team', occurrence: 1 },
  '/v2/crdt/schemas/delete': { name: 'article' },
  '/v2/crdt/schemas/get': { name: 'article' },
  '/v2/crdt/schemas/set': { name: 'article', schema: { nodes: { doc: {} } } },
  '/v2/presence/add': { color: '#336699' },
  '/v2/presence/update': { color: '#336699' },
}
/** Members with values of earlier responses, which cannot be generated. */
const opaque: readonly string[] = ['pageToken', 'iterator', 'cursor', 'baseVersion', 'ifVersion']
/**
 * Omitted operations, for which a tool cannot generate fitting requests. Some have lists whose items must
 * differ, must exist, or must be domains. Some need ids that the server has generated, or the credentials in
 * the body, replace the credentials of the tool, or need a callback that answers.
 */
const leftOut: readonly string[] = [
  '/v1/organizations/documents/locations/data/delete',
  '/v2/crdt/changes',
  '/v2/crdt/copy',
  '/v2/crdt/schemas/migrate',
  '/v2/crdt/undo',
  '/v2/crdt/versions/diff',
  '/v2/crdt/versions/delete',
  '/v2/crdt/versions/get',
  '/v2/crdt/versions/restore',
  '/v2/auth/permissions/add',
  '/v2/workspace/domains/add',
  '/v2/workspace/domains/delete',
  '/v2/workspace/advancedwebhook/deliveries/resend',
  '/v2/workspace/deleted/purge',
  '/v2/workspace/deleted/restore',
  '/v2/workspace/workspaceauthtoken/reset',
]
/**
 * Lists to remove: optional ones as above, or with a maximum length, which the tool ignores. Also nullable
 * members that the tool cannot read, names of things that must exist, and members that would make a request
 * fit without the member that it needs, or wait.
 */
const lists: Readonly<Record<string, readonly string[]>> = {
  '/v2/crdt/add': ['schema', 'meta'],
  '/v2/crdt/apply': ['meta'],
  '/v2/crdt/branches/merge': ['hunks'],
  '/v2/crdt/branches/reject': ['hunks'],
  '/v2/crdt/get': ['attribution'],
  '/v2/crdt/update': ['schema', 'meta'],
  '/v2/crdt/edit': ['schema', 'meta'],
  '/v2/feed/get': ['waitSeconds'],
  '/v2/auth/generate_token': ['agent', 'model', 'onBehalfOf', 'policy'],
  '/v2/auth/permissions/get': ['folderIds', 'documentIds'],
  '/v2/commentannotations/get': ['statuses'],
  '/v2/notifications/delete': ['userId'],
  '/v2/notifications/config/get': ['documentIds'],
  '/v2/notifications/config/set': ['documentIds'],
  '/v2/workspace/advancedwebhook/endpoints/create': ['metadata'],
  '/v2/workspace/advancedwebhook/endpoints/update': ['metadata'],
  '/v2/workspace/advancedwebhookconfig/update': [
    'encodeData',
    'encryptData',
    'publicKey',
    'enableDataProtection',
  ],
  '/v2/workspace/webhookconfig/update': ['webhookServiceConfig'],
  '/v2/workspace/apikey/create': ['allowedDomains'],
  '/v2/workspace/callbacks/update': ['load', 'store'],
  // A low rate would reject the calls that follow.
  '/v2/workspace/calllimit/update': ['callsPerSecond', 'burst'],
  '/v2/workspace/feed/update': ['keepSeconds'],
  '/v2/workspace/authtoken/reset': ['domains'],
}
/**
 * Members to remove before an organization becomes required: a filter by document that needs none, and a
 * document that a request may leave out with its organization.
 */
const withoutDocument: Readonly<Record<string, readonly string[]>> = {
  '/v2/connections/get': ['documentId'],
  '/v2/auth/inspect_token': ['organizationId', 'documentId'],
}
/** The member to send, of several of which a request must have one. */
const needed: Readonly<Record<string, string>> = {
  '/v2/activities/delete': 'activityIds',
  '/v2/workspace/webhookconfig/update': 'useWebhookService',
  '/v2/workspace/advancedwebhookconfig/update': 'isEnabled',
  '/v2/workspace/advancedwebhook/endpoints/update': 'disabled',
  '/v2/workspace/callbacks/update': 'authorize',
  '/v2/workspace/feed/update': 'enabled',
}
/**
 * Pairs of which a request may have at most one (`some`) or must have exactly one (`one`): the first is sent.
 */
const alternatives: readonly (readonly [first: string, second: string, needed: 'some' | 'one'])[] = [
  ['documentId', 'folderId', 'some'],
  ['documentIds', 'folderId', 'some'],
  ['documentIds', 'search', 'some'],
  ['organizationIds', 'search', 'some'],
  ['userIds', 'search', 'some'],
  ['groupIds', 'organizationUserGroupId', 'some'],
  ['documentId', 'notificationIds', 'one'],
  ['userIds', 'deleteAll', 'one'],
  ['user', 'organizationUserGroupId', 'one'],
  ['userId', 'organizationUserGroupId', 'one'],
  ['accept', 'content', 'some'],
  ['accept', 'reject', 'one'],
  ['position', 'before', 'some'],
  ['position', 'after', 'some'],
  ['position', 'occurrence', 'some'],
  ['position', 'quote', 'one'],
  ['replace', 'insert', 'some'],
  ['replace', 'mark', 'some'],
  ['replace', 'attributes', 'some'],
  ['replace', 'patch', 'some'],
  ['replace', 'text', 'some'],
  ['replace', 'remove', 'one'],
]

/**
 * Changes the document for a tool that generates requests and expects each fitting one to succeed. Variable
 * members stay as they are; names of objects become those of `makeWorld`.
 */
export function ofKnownWorld<Document extends OpenApi>(document: Document): Document {
  const copy = structuredClone(document)
  // Streams and sync over HTTP have no JSON requests.
  const others = Object.keys(copy.paths).filter(
    (path) => copy.paths[path]?.post?.requestBody.content['application/json'] === undefined,
  )
  for (const path of [...leftOut, ...others]) delete copy.paths[path]
  for (const [path, { post }] of Object.entries(copy.paths)) {
    const { schema, examples } = post.requestBody.content['application/json']
    delete post.parameters
    withoutNull(schema)
    for (const name of withoutDocument[path] ?? []) delete schema.properties?.data?.properties?.[name]
    const values = { ...known, ...knownIn[path] }
    restrict(schema, values)
    for (const name of lists[path] ?? []) delete schema.properties?.data?.properties?.[name]
    const data = schema.properties?.data
    if (data !== undefined && needed[path] !== undefined)
      data.required = [...(data.required ?? []), needed[path]]
    fill(schema, examples?.done?.value, values)
    withNull(schema)
    // Examples of failures have no matching requests.
    for (const [code, { content }] of Object.entries(post.responses))
      if (code !== '200') delete content['application/json'].examples
  }
  return copy
}

/** Gives each optional member the type that it has if it is given. */
function withoutNull({ properties = {}, items }: Schema): void {
  for (const [name, { anyOf }] of Object.entries(properties)) {
    const [given, none, ...others] = anyOf ?? []
    if (given !== undefined && none?.type === 'null' && others.length === 0)
      properties[name] = { ...given, [optional]: true }
  }
  for (const member of [...Object.values(properties), ...(items === undefined ? [] : [items])])
    withoutNull(member)
}

/** Reverts `withoutNull`, in the form that the tool reads for every type. */
function withNull({ properties = {}, required = [], items }: Schema): void {
  for (const [name, member] of Object.entries(properties)) {
    withNull(member)
    // Custom activities must have one.
    if (name === 'targetEntityId' && properties.featureType !== undefined) continue
    if (member[optional] === true && !required.includes(name))
      Object.assign(properties, { [name]: { oneOf: [member, { type: 'null' }] } })
  }
  if (items !== undefined) withNull(items)
}

type KnownValues = Readonly<Record<string, unknown>>

function restrict(schema: Schema, values: KnownValues): void {
  const { properties = {}, items } = schema
  for (const name of opaque) delete properties[name]
  chooseAlternatives(schema, properties)
  requireOrganization(schema, properties)
  chooseTypes(schema, properties)
  for (const [name, member] of Object.entries(properties)) {
    restrict(member, values)
    if (isObject(values[name])) Object.assign(member, schemaOf(values[name]))
    else if (values[name] !== undefined) loosen(member)
  }
  if (items !== undefined) restrict(items, values)
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the schema of an object with exactly these members, which are objects. */
const schemaOf = (value: object): Schema => ({
  type: 'object',
  required: Object.keys(value),
  properties: Object.fromEntries(Object.entries(value).map(([name, member]) => [name, schemaOf(member)])),
})

/** A document belongs to an organization, even if both may be missing. */
function requireOrganization(schema: Schema, { documentId, organizationId }: Members): void {
  if (documentId === undefined || organizationId === undefined) return
  schema.required = [...new Set([...(schema.required ?? []), 'organizationId'])]
}

/** Removes the limits of a schema, because values at the limits name no objects. */
function loosen(schema: Schema): void {
  const { type, items } = schema
  for (const keyword of Object.keys(schema)) delete schema[keyword as keyof Schema]
  Object.assign(schema, { type, ...(items !== undefined && { items: { type: 'string' } }) })
}

function chooseAlternatives(schema: Schema, properties: Members): void {
  for (const [first, second, needed] of alternatives) {
    const required = schema.required ?? []
    if (properties[first] === undefined || properties[second] === undefined) continue
    if (required.includes(first) || required.includes(second)) continue
    delete properties[second]
    if (needed === 'one') schema.required = [...required, first]
  }
}

/** A `type` or a `format` determines the other members, or which objects exist. */
function chooseTypes(
  schema: Schema,
  { type, id, organizationId, data, update, format, find, with: replacement }: Members,
): void {
  if (type?.enum !== undefined && organizationId !== undefined && id !== undefined) {
    type.enum = ['document']
    loosen(id)
    schema.required = [...(schema.required ?? []), 'organizationId']
  }
  if (type?.enum !== undefined && data !== undefined) {
    type.enum = ['text']
    data.type = 'string'
  }
  if (update !== undefined) delete update.format
  // A target and its replacement can be texts.
  for (const member of [find, replacement]) if (member !== undefined) member.type = 'string'
  if (find !== undefined && format !== undefined) format.enum = ['text']
  if (format?.enum?.includes('json')) format.enum = ['json', 'text', 'delta', 'update']
}

/**
 * Adds the names of existing objects to an example, so that the tool does not generate them, and removes
 * other members.
 */
function fill({ properties, items }: Schema, value: unknown, values: KnownValues): void {
  if (Array.isArray(value)) for (const item of value) fill(items ?? {}, item, values)
  else if (properties !== undefined && typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>
    for (const name of Object.keys(members)) if (properties[name] === undefined) delete members[name]
    for (const [name, schema] of Object.entries(properties)) {
      if (isObject(values[name])) members[name] = values[name]
      else if (values[name] !== undefined) members[name] ??= values[name]
      else fill(schema, members[name], values)
    }
  }
}
