import { operationList } from '../../../src/capabilities/list.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { errorOf, type ItemResults, type PeopleServer } from '../servers/acme-server.ts'
import { type Answer, dataOf } from '../servers/server.ts'
import { scopeOf } from './directory.ts'

export interface UserRow {
  readonly userId: string
  readonly name?: string
}

export interface CommentRow {
  readonly commentId: string
  readonly from: UserRow
  readonly text: string
  readonly reactions: readonly {
    readonly reactionId: string
    readonly reaction: string
    readonly user: UserRow
  }[]
  readonly createdAt: number
  readonly lastUpdated: number
}

export interface AnnotationRow {
  readonly annotationId: string
  readonly status: string
  readonly priority: string | null
  readonly location: { readonly id: string } | null
  readonly anchor: { readonly position: string } | null
  readonly suggestion: { readonly status: string; readonly content: unknown } | null
  readonly comments: readonly CommentRow[]
  readonly commentCount: number
  readonly createdAt: number
  readonly lastUpdated: number
}

export interface ActivityRow {
  readonly actionType: string
  readonly featureType: string
  readonly actionUser: UserRow
  readonly targetEntityId: string
  readonly changes?: Readonly<Record<string, unknown>>
  readonly displayMessageTemplate: string
  readonly displayMessageTemplateData: Readonly<Record<string, unknown>>
}

export const ann = { userId: 'ann', name: 'Ann' }
export const bob = { userId: 'bob', name: 'Bob' }
/** Relative position of the start of the text `content`. */
export const atStart = 'AQdjb250ZW50AA=='

export const say = (commentId: string, text = `text of ${commentId}`, from: UserRow = ann) => ({
  commentId,
  from,
  text,
})

/**
 * Creates an organization with the documents `d1` and `d2`. Returns functions for calls, which use `d1` and
 * the user Ann by default.
 */
export async function commentsOf(server: PeopleServer, organizationId: string) {
  const scope = scopeOf(server.credentials, organizationId)
  await server.directory.organizations.ensure(scope)
  const documents = ['d1', 'd2'].map((documentId) => ({ documentId }))
  await server.directory.documents.add(scope, documents, { createFolder: false })
  const post = (path: string, data: object): Promise<Answer> =>
    server.post(`/v2/commentannotations/${path}`, {
      organizationId,
      documentId: 'd1',
      actionUser: ann,
      ...data,
    })
  const effectOf = (path: string) =>
    operationList.find((operation) => operation.path === `/v2/commentannotations/${path}`)?.effect
  const call = async <Data = ItemResults>(path: string, data: object): Promise<Data> => {
    const answer = dataOf(await post(path, data)) as Data
    // The clock advances with each call, so that the order of the activities is known.
    if (effectOf(path) !== 'reads') server.clock.advance(1)
    return answer
  }
  const listed = async (data: object): Promise<readonly ActivityRow[]> =>
    dataOf(
      await server.post('/v2/activities/get', { organizationId, order: 'asc', ...data }),
    ) as ActivityRow[]
  return {
    scope,
    post,
    call,
    refusal: async (path: string, data: object) => errorOf(await post(path, data)),
    add: (...annotations: object[]) => call('add', { annotations }),
    update: (annotationId: string, change: object, more: object = {}) =>
      call('update', { annotations: [{ annotationId, ...change }], ...more }),
    get: (data: object = {}) => call<AnnotationRow[]>('get', data),
    one: async (annotationId: string) =>
      (await call<AnnotationRow[]>('get', { annotationIds: [annotationId] }))[0] as AnnotationRow,
    comments: (annotationId: string, data: object = {}) =>
      call<CommentRow[]>('comments/get', { annotationId, ...data }),
    /** Returns the activities of the annotations of `d1`, in order. */
    activities: async () =>
      (await listed({ documentId: 'd1' })).filter(({ featureType }) =>
        ['comment', 'reaction'].includes(featureType),
      ),
    /** Returns the activities of comments in the form `type target`. */
    happened: async () =>
      (await listed({ documentId: 'd1' }))
        .filter(({ actionType }) => actionType.startsWith('comment'))
        .map(({ actionType, targetEntityId }) => `${actionType} ${targetEntityId}`),
    /** Returns all stored keys of annotations and comments. */
    stored: async () => {
      const entries = await server.engine.kv.scan(organizationPart(scope), { limit: 100_000 })
      return entries.map(({ key }) => key).filter(([kind = '']) => kind.startsWith('annotation'))
    },
  }
}

export const successes = (results: ItemResults): Readonly<Record<string, boolean>> =>
  Object.fromEntries(Object.entries(results).map(([id, { success }]) => [id, success]))

/** Returns all pages of a list. Calls `between` before each page except the first. */
export async function pagesOf<Row>(
  get: (more: object) => Promise<Answer>,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly (readonly Row[])[]> {
  const pages: (readonly Row[])[] = []
  for (let more: object | null = {}; more !== null; ) {
    const answer: Answer = await get(more)
    pages.push(dataOf(answer) as readonly Row[])
    const { pageToken } = answer.body.result as { pageToken?: string }
    more = pageToken === undefined ? null : { pageToken }
    if (more !== null) await between()
  }
  return pages
}
