// A bot that edits the text of users. It is slow, like a language model. Text that users type meanwhile
// stays, and so do their cursors.
import { setTimeout as sleep } from 'node:timers/promises'
import { dataOf } from 'weft-server/client'
import { tidy } from './tidy.js'

const bot = { userId: 'editor-bot', name: 'Editor bot' }
const stepMs = Number(process.env.EXAMPLE_BOT_STEP_MS ?? 900)
const atWork = new Set()

/** @returns the changes in words */
export async function runBot(weft, { organizationId, documentId, editorId }) {
  const document = { organizationId, documentId }
  const editor = { ...document, editorId, contentKey: 'default' }
  const key = JSON.stringify(editor)
  if (atWork.has(key)) return { changes: [], note: 'is at work already' }
  atWork.add(key)
  const withStatus = (status) => ({ ...document, users: [{ ...bot, status }] })
  try {
    dataOf(await weft.presence.add(withStatus('reading')))
    const showStatus = async (status) => dataOf(await weft.presence.update(withStatus(status)))
    const report = await rewrite(weft, editor, showStatus)
    dataOf(await weft.livestate.broadcast({ ...document, event: 'bot.done', data: report }))
    return report
  } catch (error) {
    if (error.status === 'NOT_FOUND') return { changes: [], note: 'found no text' }
    throw error
  } finally {
    atWork.delete(key)
    // Without this call, the bot would disappear after a minute.
    await weft.presence.delete({ ...document, userIds: [bot.userId] })
  }
}

async function rewrite(weft, editor, showStatus) {
  const [{ data, version }] = dataOf(await weft.crdt.get({ ...editor, format: 'xml' }))
  await sleep(stepMs)
  await showStatus('thinking')
  const { edits, changes } = tidy(data)
  await sleep(stepMs)
  await showStatus('writing')
  await sleep(stepMs)
  if (edits.length === 0) return { changes, note: 'has nothing to change' }
  // `baseVersion` names the version that was read: Weft finds the texts of the edits in it, and merges the
  // edits with the present text.
  dataOf(await weft.crdt.edit({ ...editor, edits, baseVersion: version, userId: bot.userId }))
  return { changes, note: '' }
}
