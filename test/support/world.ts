import { dataOf, startTestServer, type TestServer } from './server.ts'

const organizationId = 'acme'
const documentId = 'report'
const domains = ['https://www.example.com/app', '*.example.com']
const adminToken = 'an-admin-token-of-tests'
const activity = {
  id: 'signed-off',
  featureType: 'custom',
  actionType: 'document.sign_off',
  actionUser: { userId: 'ann' },
  targetEntityId: 'report',
}
const annotation = {
  annotationId: 'remark-1',
  location: { id: 'page-1' },
  suggestion: {},
  comments: [{ commentId: 'comment-1', from: { userId: 'ann' }, text: 'Is this still right?' }],
}
const reaction = { reactionId: 'reaction-1', reaction: '👍' }
const workspace = {
  name: 'example',
  workspaceId: 'ws_example',
  workspaceAuthToken: 'a-workspace-token-of-tests',
  apiKey: 'key_example',
  authToken: 'an-auth-token-of-tests',
}

/** A server, and what is shown to it, by the names of the security schemes of `/openapi.json`. */
export interface ExampleServer {
  readonly server: TestServer
  readonly credentials: Readonly<Record<string, string>>
}

/**
 * A server with the workspace that the examples of `/openapi.json` speak of. Calls of the API key are made with another
 * one, of which the examples say nothing, so that they cannot lock themselves out.
 */
export async function startExampleServer(): Promise<ExampleServer> {
  const server = await startTestServer({ adminToken, bootstrap: [workspace], apiKey: 'key_of_tests' })
  const { apiKey, authToken } = server.credentials
  const { workspaceId, workspaceAuthToken } = workspace
  return { server, credentials: { apiKey, authToken, workspaceId, workspaceAuthToken, adminToken } }
}

/**
 * Makes anew what the examples speak of, for an operation that is called next. Returns the ids that the server has given:
 * no example can know them.
 */
export async function makeWorld({ post }: TestServer, path: string): Promise<{ readonly versionId: string }> {
  const document = { organizationId, documentId }
  await post('/v2/crdt/delete', document)
  await post('/v2/organizations/delete', { organizationIds: [organizationId] })
  await post('/v2/workspace/domains/delete', { domains })
  const steps: readonly (readonly [string, object])[] = [
    ['/v2/organizations/add', { organizations: [{ organizationId }] }],
    ['/v1/organizations/folders/add', { organizationId, folders: [{ folderId: 'reports' }] }],
    ['/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] }],
    ['/v2/users/add', { organizationId, users: [{ userId: 'ann' }, { userId: 'bob' }] }],
    ['/v1/organizations/usergroups/add', { organizationId, organizationUserGroups: [{ groupId: 'design' }] }],
    [
      '/v1/notifications/add',
      {
        ...document,
        notificationId: 'shared-1',
        actionUser: { userId: 'bob' },
        displayHeadlineMessageTemplate: '{actionUser} has shared the report',
        displayBodyMessage: 'Have a look.',
        notifyUsers: [{ userId: 'ann' }],
      },
    ],
    ['/v2/crdt/add', { ...document, editorId: 'main', type: 'text', data: 'Hello' }],
    ['/v2/activities/add', { ...document, activities: [activity] }],
    ['/v2/commentannotations/add', { ...document, actionUser: { userId: 'ann' }, annotations: [annotation] }],
    [
      '/v2/commentannotations/comments/reactions/add',
      {
        ...document,
        annotationId: 'remark-1',
        commentId: 'comment-1',
        actionUser: { userId: 'bob' },
        reactions: [reaction],
      },
    ],
    ['/v2/presence/add', { ...document, users: [{ userId: 'ann' }] }],
    ['/v2/workspace/domains/add', { domains }],
  ]
  // What is to be added must not be there yet.
  for (const [step, data] of steps)
    if (step !== path || !adding.includes(step)) dataOf(await post(step, data))
  if (path === '/v2/crdt/add') return { versionId: '' }
  const version = await post('/v2/crdt/versions/create', { ...document, editorId: 'main' })
  return dataOf(version) as { versionId: string }
}

/** Operations that fail for what is there already. */
const adding: readonly string[] = ['/v2/crdt/add', '/v2/workspace/domains/add']
