// Comments on the text: Weft stores the threads and the anchors. Only the editor knows which words an anchor
// points to.
import { addressOf, call } from './weft.js'

/** Pages that receive this event read the threads again. A lost event only delays the update. */
const tellOthers = (document) =>
  call('/v2/livestate/broadcast', { ...document, event: 'comments.changed', data: null })

export async function threads({ room }) {
  const { document, editorId } = addressOf(room)
  const open = { ...document, statuses: ['open'], order: 'asc', pageSize: 200 }
  const all = await call('/v2/commentannotations/get', open).catch((error) => {
    // The first edit or the first comment creates a document.
    if (error.status === 'NOT_FOUND') return []
    throw error
  })
  return all
    .filter(({ anchor }) => anchor?.editorId === editorId)
    .map(({ annotationId, anchor, comments }) => ({ annotationId, anchor, comments }))
}

/** @param anchor two relative positions of Yjs, which the page has created from its selection */
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
