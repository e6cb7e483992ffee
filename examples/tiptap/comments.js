// Comments on the text: Weft keeps the threads and the anchors; what an anchor points to only the editor knows.
import { addressOf, call } from './weft.js'

/** Pages listen, and ask for the threads again: a message that somebody misses costs nothing but time. */
const tellOthers = (document) =>
  call('/v2/livestate/broadcast', { ...document, event: 'comments.changed', data: null })

export async function threads({ room }) {
  const { document, editorId } = addressOf(room)
  const open = { ...document, statuses: ['open'], order: 'asc', pageSize: 200 }
  const all = await call('/v2/commentannotations/get', open).catch((error) => {
    // A document comes into being with its first edit, or its first comment.
    if (error.status === 'NOT_FOUND') return []
    throw error
  })
  return all
    .filter(({ anchor }) => anchor?.editorId === editorId)
    .map(({ annotationId, anchor, comments }) => ({ annotationId, anchor, comments }))
}

/** @param anchor where it is: two relative positions of Yjs, which the page has made of its selection */
export async function addThread({ room, anchor, text, user }) {
  const { document, editorId } = addressOf(room)
  const { position, positionEnd } = anchor
  await call('/v2/commentannotations/add', {
    ...document,
    actionUser: user,
    annotations: [
      {
        anchor: { editorId, contentKey: 'default', position, positionEnd },
        comments: [{ from: user, text }],
      },
    ],
    createOrganization: true,
    createDocument: true,
  })
  await tellOthers(document)
}

export async function reply({ room, annotationId, text, user }) {
  const { document } = addressOf(room)
  const comments = [{ from: user, text }]
  await call('/v2/commentannotations/comments/add', { ...document, annotationId, actionUser: user, comments })
  await tellOthers(document)
}

export async function resolve({ room, annotationId, user }) {
  const { document } = addressOf(room)
  const annotations = [{ annotationId, status: 'resolved' }]
  await call('/v2/commentannotations/update', { ...document, actionUser: user, annotations })
  await tellOthers(document)
}
