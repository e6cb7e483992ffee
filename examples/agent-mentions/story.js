// Two users and the agent, which main.js must have started. Ada asks for a change in a comment, and Grace accepts the
// suggestion. A user can also do both in an editor, or accept it in the console.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readClientOptions } from 'weft-server'
import { createClient, dataOf } from 'weft-server/client'

const weft = createClient(await readClientOptions({ dataDir: '../../data' }))
const document = { organizationId: 'example', documentId: `mentions-${Date.now()}` }
const editor = { ...document, editorId: 'main' }
const main = { ...editor, contentKey: 'default' }
const report = (text) => console.log(`- ${text}`)
const waitMs = 120_000

const markdown = '## Minutes\n\nWe meet on **monday**. Bring teh plan.\n\nOn monday, the office is closed.'
dataOf(await weft.crdt.update({ ...main, type: 'markdown', data: markdown, upsert: true }))

const ada = { userId: 'ada', name: 'Ada' }
const comment = { commentId: 'request', from: ada, text: '@agent Please correct the spelling.' }
const thread = { annotationId: `thread-${document.documentId}`, comments: [comment] }
const anchor = {
  editorId: main.editorId,
  contentKey: main.contentKey,
  quote: 'We meet on monday. Bring teh plan.',
}
dataOf(
  await weft.commentannotations.add({ ...document, actionUser: ada, annotations: [{ ...thread, anchor }] }),
)
report(`Ada comments: ${comment.text}`)

const reply = await replyOf(thread.annotationId)
assert.deepEqual(reply.from, { userId: 'agent', name: 'Agent' })
report(`${reply.from.name} replies: ${reply.text.replaceAll('\n', ' | ')}`)

const [branch] = dataOf(await weft.crdt.branches.list(editor))
assert.equal(branch.createdBy, 'agent')
const { hunks } = dataOf(await weft.crdt.branches.diff({ ...editor, name: branch.name }))
assert.ok(hunks.length > 0)
assert.equal(await text(), markdown)
report(`the document is unchanged, and the branch ${branch.name} has ${hunks.length} suggested changes`)

dataOf(await weft.crdt.branches.merge({ ...editor, name: branch.name, userId: 'grace' }))
report(`Grace accepts them: ${(await text()).replaceAll('\n', ' ')}`)

async function text() {
  const [read] = dataOf(await weft.crdt.get({ ...main, format: 'markdown' }))
  return read.data.trim()
}

/** Waits for the second comment of a thread. */
async function replyOf(annotationId) {
  for (const end = Date.now() + waitMs; Date.now() < end; await sleep(250)) {
    const [, second] = dataOf(await weft.commentannotations.comments.get({ ...document, annotationId }))
    if (second !== undefined) return second
  }
  throw new Error('no reply; is main.js running?')
}
