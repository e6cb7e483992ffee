// Suggestions: each user writes them in an own branch of the editor. Weft lists the differences between the
// branch and the editor, and users accept or reject them one by one.
import { addressOf, call } from './weft.js'

/** Maximum number of branches whose suggestions are shown. */
const branchesMax = 20

const mainOf = (room) => {
  const { document, editorId } = addressOf(room)
  return { ...document, editorId }
}

/** Pages that receive this event read the suggestions again. */
async function tellOthers({ organizationId, documentId }) {
  await call('/v2/livestate/broadcast', {
    organizationId,
    documentId,
    event: 'suggestions.changed',
    data: null,
  })
}

/** Returns the value of a call; null if what it names does not exist. */
const ifFound = (answer) =>
  answer.catch((error) => {
    if (error.status === 'NOT_FOUND') return null
    throw error
  })

/** @returns the room of the branch of a user, which is created if the user has no open one */
export async function startSuggesting({ room, user }) {
  const main = mainOf(room)
  const branch = { ...main, name: user.userId }
  const found = await ifFound(call('/v2/crdt/branches/get', branch))
  if (found !== null && found.status !== 'open') await call('/v2/crdt/branches/delete', branch)
  const open =
    found?.status === 'open'
      ? found
      : await call('/v2/crdt/branches/create', { ...branch, userId: user.userId })
  const ids = [main.organizationId, main.documentId, open.branchEditorId]
  return { room: ids.map(encodeURIComponent).join('/') }
}

/** @returns the suggestions of all open branches */
export async function suggestions({ room }) {
  const main = mainOf(room)
  const branches = (await ifFound(call('/v2/crdt/branches/list', { ...main, pageSize: branchesMax }))) ?? []
  const lists = await Promise.all(
    branches
      .filter(({ status }) => status === 'open')
      .map(async ({ name, createdBy }) => {
        const { hunks } = await call('/v2/crdt/branches/diff', { ...main, name })
        return hunks.map(({ hunkId, deleted, inserted, dependsOn }) => ({
          branch: name,
          hunkId,
          deleted,
          inserted,
          dependsOn,
          userId: createdBy,
        }))
      }),
  )
  return lists.flat()
}

async function decide(operation, { room, branch, hunks, user }) {
  const main = mainOf(room)
  await call(`/v2/crdt/branches/${operation}`, { ...main, name: branch, hunks, userId: user.userId })
  await tellOthers(main)
}

export const acceptSuggestion = (data) => decide('merge', data)
export const rejectSuggestion = (data) => decide('reject', data)

/** Called by a page after its user has changed a suggestion. */
export const suggestionChanged = ({ room }) => tellOthers(mainOf(room))
