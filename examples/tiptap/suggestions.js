// Suggestions: each user writes them in an own branch of the editor. Weft lists the differences between the
// branch and the editor, and users accept or reject them one by one.
import { dataOf } from 'weft-server/client'

/** Maximum number of branches whose suggestions are shown. */
const branchesMax = 20

const mainOf = ({ organizationId, documentId, editorId }) => ({ organizationId, documentId, editorId })

/** Pages that receive this event read the suggestions again. */
async function tellOthers(weft, { organizationId, documentId }) {
  dataOf(await weft.livestate.broadcast({ organizationId, documentId, event: 'suggestions.changed' }))
}

/** Returns the data of a result; null if what the call names does not exist. */
const ifFound = (result) => (!result.ok && result.error.status === 'NOT_FOUND' ? null : dataOf(result))

/** @returns the room of the branch of a user, which is created if the user has no open one */
export async function startSuggesting(weft, page, { userId }) {
  const main = mainOf(page)
  const branch = { ...main, name: userId }
  const found = ifFound(await weft.crdt.branches.get(branch))
  if (found !== null && found.status !== 'open') dataOf(await weft.crdt.branches.delete(branch))
  const open =
    found?.status === 'open' ? found : dataOf(await weft.crdt.branches.create({ ...branch, userId }))
  const ids = [main.organizationId, main.documentId, open.branchEditorId]
  return { room: ids.map(encodeURIComponent).join('/') }
}

/** @returns the suggestions of all open branches */
export async function suggestions(weft, page) {
  const main = mainOf(page)
  const branches = ifFound(await weft.crdt.branches.list({ ...main, pageSize: branchesMax })) ?? []
  const lists = await Promise.all(
    branches
      .filter(({ status }) => status === 'open')
      .map(async ({ name, createdBy }) => {
        const { hunks } = dataOf(await weft.crdt.branches.diff({ ...main, name }))
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

export async function acceptSuggestion(weft, { branch, hunks, ...page }, { userId }) {
  dataOf(await weft.crdt.branches.merge({ ...mainOf(page), name: branch, hunks, userId }))
  await tellOthers(weft, page)
}

export async function rejectSuggestion(weft, { branch, hunks, ...page }, { userId }) {
  dataOf(await weft.crdt.branches.reject({ ...mainOf(page), name: branch, hunks, userId }))
  await tellOthers(weft, page)
}

/** Called by a page after its user has changed a suggestion. */
export const suggestionChanged = (weft, page) => tellOthers(weft, page)
