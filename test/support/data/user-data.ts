import { dataOf, type Envelope, type TestServer } from '../servers/server.ts'

export interface Datum {
  readonly kind: string
  readonly organizationId?: string
  readonly documentId?: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Report {
  readonly status: 'running' | 'done'
  readonly removed: Readonly<Record<string, number>>
  readonly startedAt: number
  readonly endedAt?: number
}

/** The user whose data the tests erase. Her texts occur nowhere else. */
export const zoe = { userId: 'u-zoe-7', name: 'Zoe Zimmer', email: 'zoe@zimmer.example' }
export const zoeTexts: readonly string[] = Object.values(zoe)

type Post = (path: string, data: object) => Promise<unknown>

/**
 * Creates an organization in which Zoe occurs in every place that can mention a user. Bob also occurs in it.
 */
export async function fillOrganization(post: Post, organizationId: string): Promise<void> {
  const document = { organizationId, documentId: 'd1' }
  const bob = { userId: 'bob', name: 'Bob' }
  const users = [zoe, bob]
  const ids = users.map(({ userId }) => userId)
  const resource = { type: 'document', id: 'd1', organizationId, accessRole: 'viewer' }
  const notification = {
    ...document,
    displayHeadlineMessageTemplate: '{actionUser} says hello',
    displayBodyMessage: 'body',
    notifyAll: false,
  }
  const steps: readonly Step[] = [
    ['/v2/organizations/add', { organizations: [{ organizationId }] }],
    ['/v2/organizations/documents/add', { organizationId, documents: [{ documentId: 'd1' }] }],
    ['/v2/users/add', { organizationId, users }],
    ['/v2/users/update', { organizationId, users: [{ ...zoe, color: 'red' }] }],
    [
      '/v1/organizations/usergroups/users/add',
      { organizationId, organizationUserGroupId: 'g', userIds: ids },
    ],
    ['/v2/auth/permissions/add', { user: { userId: zoe.userId }, permissions: { resources: [resource] } }],
    ['/v2/activities/add', { ...document, activities: activities() }],
    [
      '/v1/notifications/add',
      { ...notification, notificationId: 'alone', actionUser: bob, notifyUsers: [zoe] },
    ],
    [
      '/v1/notifications/add',
      { ...notification, notificationId: 'both', actionUser: zoe, notifyUsers: users },
    ],
    [
      '/v1/notifications/add',
      {
        ...notification,
        notificationId: 'named',
        actionUser: bob,
        notifyUsers: [{ userId: 'bob' }],
        notificationSourceData: { about: [zoe] },
      },
    ],
    [
      '/v1/notifications/add',
      { ...notification, notificationId: 'all', actionUser: bob, notifyAll: true, notifyUsers: [] },
    ],
    ['/v2/notifications/update', { organizationId, notifications: [{ id: 'all', readByUserIds: ids }] }],
    ['/v2/notifications/config/set', { organizationId, userIds: ids, config: { inbox: 'MINE' } }],
    [
      '/v2/notifications/config/set',
      { organizationId, userIds: ids, documentIds: ['d1'], config: { email: 'NONE' } },
    ],
    ...annotating(document, bob),
    ...judging(document),
    ['/v2/presence/add', { ...document, users, ttlSeconds: 600 }],
    ['/v2/crdt/add', { ...document, editorId: 'main', type: 'text', data: 'text' }],
    ['/v2/crdt/versions/create', { ...document, editorId: 'main', userId: zoe.userId }],
  ]
  for (const [path, data] of steps) await post(path, data)
}

type Step = readonly [path: string, data: object]

/**
 * Returns steps that create a thread of Zoe with a reply by Bob, and a thread of Bob in which only some
 * members mention Zoe.
 */
const annotating = (document: object, bob: object): readonly Step[] => {
  const acting = { ...document, actionUser: bob }
  const on = { ...acting, annotationId: 'thread' }
  const path = '/v2/commentannotations'
  return [
    [
      `${path}/add`,
      {
        ...document,
        actionUser: zoe,
        annotations: [
          {
            annotationId: 'thread',
            suggestion: {},
            comments: [{ commentId: 'own', from: zoe, text: 'Mine' }],
          },
        ],
      },
    ],
    [
      `${path}/add`,
      {
        ...document,
        actionUser: bob,
        annotations: [
          {
            annotationId: 'other',
            location: { id: 'page', seenBy: [zoe] },
            suggestion: { content: { to: zoe } },
            comments: [{ commentId: 'theirs', from: bob, text: 'Not hers' }],
          },
        ],
      },
    ],
    [`${path}/comments/add`, { ...on, comments: [{ commentId: 'answer', from: bob, text: 'I see' }] }],
    [
      `${path}/comments/reactions/add`,
      { ...on, commentId: 'answer', reactions: [zoe, bob].map((user) => ({ reaction: 'yes', user })) },
    ],
    [`${path}/update`, { ...acting, annotations: [{ annotationId: 'thread', assignedTo: zoe }] }],
    [`${path}/update`, { ...acting, annotations: [{ annotationId: 'thread', assignedTo: bob }] }],
    [
      `${path}/update`,
      { ...acting, actionUser: zoe, annotations: [{ annotationId: 'thread', suggestion: { accept: true } }] },
    ],
  ]
}

/** Returns steps that add judgments, in addition to the judgment that accepting the suggestion creates. */
const judging = ({ organizationId }: { readonly organizationId: string }): readonly Step[] =>
  [zoe.userId, 'bob'].map((reviewerId) => [
    '/v2/memory/judgments/add',
    { query: 'Refund', decision: 'approve', organizationId, reviewerId },
  ])

/** Returns activities by Zoe, activities about Zoe, and activities without Zoe. */
const activities = () => {
  const bob = { userId: 'bob', name: 'Bob' }
  const base = { featureType: 'comment', actionType: 'comment.add', targetEntityId: 'c1' }
  const data = { user: zoe, said: zoe.name, to: zoe.email, other: 'kept' }
  return [
    { ...base, id: 'by', actionUser: zoe, displayMessageTemplateData: data },
    { ...base, id: 'about', actionUser: bob, changes: { from: [{ was: zoe }], to: bob } },
    { ...base, id: 'not', actionUser: bob, changes: { to: bob } },
    {
      ...base,
      id: 'user',
      featureType: 'custom',
      actionType: 'user.ban',
      targetEntityId: zoe.userId,
      actionUser: bob,
    },
  ]
}

/** Returns functions that call operations for the data of the user Zoe. */
export function userDataOf({ post }: Pick<TestServer, 'post'>) {
  const page = async (data: object): Promise<{ data: readonly Datum[]; pageToken?: string }> => {
    const { body } = await post('/v2/users/data/get', { userId: zoe.userId, ...data })
    return body.result as NonNullable<Envelope['result']> & { data: readonly Datum[] }
  }
  return {
    page,
    /** Returns the data on all pages. Calls `between` before each page except the first. */
    all: async (
      data: object = {},
      between: () => Promise<unknown> = async () => {},
    ): Promise<readonly Datum[]> => {
      const found: Datum[] = []
      for (let token: string | null | undefined = null; token !== undefined; ) {
        const next = await page({ ...data, ...(token !== null && { pageToken: token }) })
        found.push(...next.data)
        token = next.pageToken
        if (token !== undefined) await between()
      }
      return found
    },
    erase: async (data: object = {}): Promise<Report> =>
      dataOf(await post('/v2/users/data/delete', { userId: zoe.userId, ...data })) as Report,
  }
}
