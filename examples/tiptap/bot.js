// A bot that edits the text of users. It is slow, like a language model. Text that users type meanwhile
// stays, and so do their cursors.
import { setTimeout as sleep } from 'node:timers/promises'
import { tidy } from './tidy.js'
import { addressOf, call } from './weft.js'

const bot = { userId: 'editor-bot', name: 'Editor bot' }
const stepMs = Number(process.env.EXAMPLE_BOT_STEP_MS ?? 900)
const atWork = new Set()

/** @returns the changes in words */
export async function runBot({ room }) {
  if (atWork.has(room)) return { changes: [], note: 'is at work already' }
  atWork.add(room)
  const { document, editorId } = addressOf(room)
  const show = (operation, status) =>
    call(`/v2/presence/${operation}`, { ...document, users: [{ ...bot, status }] })
  try {
    await show('add', 'reading')
    const report = await rewrite({ ...document, editorId }, (status) => show('update', status))
    await call('/v2/livestate/broadcast', { ...document, event: 'bot.done', data: report })
    return report
  } catch (error) {
    if (error.status === 'NOT_FOUND') return { changes: [], note: 'found no text' }
    throw error
  } finally {
    atWork.delete(room)
    // Without this call, the bot would disappear after a minute.
    await call('/v2/presence/delete', { ...document, userIds: [bot.userId] }).catch(() => undefined)
  }
}

async function rewrite(editor, showStatus) {
  const [{ data, version }] = await call('/v2/crdt/get', { ...editor, contentKey: 'default', format: 'xml' })
  await sleep(stepMs)
  await showStatus('thinking')
  const { edits, changes } = tidy(data)
  await sleep(stepMs)
  await showStatus('writing')
  await sleep(stepMs)
  if (edits.length === 0) return { changes, note: 'has nothing to change' }
  // `baseVersion` names the version that was read: Weft finds the texts of the edits in it, and merges the
  // edits with the present text.
  await call('/v2/crdt/edit', {
    ...editor,
    contentKey: 'default',
    edits,
    baseVersion: version,
    userId: bot.userId,
  })
  return { changes, note: '' }
}
