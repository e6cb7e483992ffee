// The agent: a process of its own, which has a token for one document, and no API key. With every answer of the
// model, this token can only read the document, write an own branch, and comment.
//   WEFT_URL=… WEFT_AGENT_TOKEN=… node agent.js '{"organizationId":…,"documentId":…,"annotationId":…,"commentId":…}'
import { createHash } from 'node:crypto'
import { createClient, dataOf } from 'weft-server/client'
import { suggestEdits } from './model.js'

const attemptsMax = 3
const charactersMax = { document: 60_000, reply: 4_000, shown: 200 }

const { WEFT_URL: url, WEFT_AGENT_TOKEN: agentToken } = process.env
const weft = createClient({ url, agentToken })
const { organizationId, documentId, annotationId, commentId } = JSON.parse(process.argv[2])
const document = { organizationId, documentId }
const thread = { ...document, annotationId }
// The same comment always has the same ids, so an agent that runs again does not reply twice.
const id = createHash('sha256')
  .update(JSON.stringify([annotationId, commentId]))
  .digest('hex')
  .slice(0, 16)
const replyId = `reply-${id}`

const [[annotation], comments] = await Promise.all([
  weft.commentannotations.get({ ...document, annotationIds: [annotationId] }).then(dataOf),
  weft.commentannotations.comments.get({ ...thread, commentIds: [commentId, replyId] }).then(dataOf),
])
const request = comments.find((comment) => comment.commentId === commentId)
const isAnswered = comments.some((comment) => comment.commentId === replyId)
if (annotation !== undefined && request !== undefined && !isAnswered) {
  const text = await answer(request.text).catch((error) => {
    console.error(error.message)
    process.exitCode = 1
    return `I could not make a suggestion (${error.code ?? error.message}).`
  })
  // The server adds the agent as the author.
  const reply = { commentId: replyId, text: text.slice(0, charactersMax.reply) }
  dataOf(await weft.commentannotations.comments.add({ ...thread, comments: [reply] }))
}

/** Suggests a change on an own branch. @returns the text of the reply */
async function answer(requestText) {
  const { editorId = 'main', contentKey } = annotation.anchor ?? {}
  const branch = { ...document, editorId, name: `agent-${id}` }
  const created = await createBranch(branch)
  const edited = { ...document, editorId: created.branchEditorId, ...(contentKey && { contentKey }) }
  const task = { request: requestText, quote: annotation.anchorPlace?.quote ?? null }
  const { changed, edits, explanation } = await suggest(edited, task).catch(async (error) => {
    await weft.crdt.branches.delete(branch)
    throw error
  })
  if (!changed) {
    dataOf(await weft.crdt.branches.delete(branch))
    return explanation
  }
  const changes = edits.map(({ find, replace }) => `“${short(find)}” → “${short(replace)}”`)
  return [explanation, ...changes, `Accept or reject the branch ${branch.name}.`].join('\n')
}

async function createBranch(branch) {
  const created = await weft.crdt.branches.create(branch)
  if (created.ok || created.error.code !== 'branch/exists') return dataOf(created)
  // An agent that was stopped before its reply has left the branch.
  dataOf(await weft.crdt.branches.delete(branch))
  return dataOf(await weft.crdt.branches.create(branch))
}

/**
 * Asks the model until its edits fit the document.
 * @returns the edits and the explanation of the model, and whether the branch has changed
 */
async function suggest(edited, task) {
  let error = null
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const [read] = dataOf(await weft.crdt.get({ ...edited, format: 'markdown' }))
    if (typeof read?.data !== 'string') throw new Error('there is no text')
    if (read.data.length > charactersMax.document) throw new Error('the document is too long for me')
    const { edits, explanation } = await suggestEdits({ ...task, markdown: read.data, error })
    if (edits.length === 0) return { changed: false, edits, explanation }
    const result = await weft.crdt.edit({
      ...edited,
      // The server finds the texts in the version that the model has read, and keeps what users type meanwhile.
      baseVersion: read.version,
      // Without a format, the new text is plain: the model cannot add links or images to the document.
      edits: edits.map(({ find, replace }) => ({ replace: { find, with: replace, format: 'text' } })),
    })
    if (result.ok) return { changed: result.data.changed, edits, explanation }
    if (result.error.status !== 'FAILED_PRECONDITION') dataOf(result)
    const { message, details } = result.error
    error = `${message} ${JSON.stringify(details?.candidates ?? [])}`
  }
  throw new Error('the model found no text that it can change')
}

function short(text) {
  return text.length > charactersMax.shown ? `${text.slice(0, charactersMax.shown)}…` : text
}
