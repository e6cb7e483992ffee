// The host of the agent. It has the API key: it finds comments that mention the agent, and starts the agent for each
// of them with a token that can do no more than this task needs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dataOf } from 'weft-server/client'
import { endpointOf } from './chat.js'

export const agent = { userId: 'agent', name: 'Agent' }
const mention = /(?:^|[^\w@.])@agent(?![\w-])/i
/** Number of agents at the same time. */
const agentsMax = 4
/** An agent is stopped after this time, and its token ends. */
const agentSeconds = 240
const tokenSeconds = 300
const mayAsk = ['suggester', 'editor']

/**
 * Follows the change feed without end, or until the signal aborts.
 * @param weft client with the API key
 * @param options `url` of Weft; `cursorFile`, which keeps the place in the feed; `signal`
 */
export async function followMentions(weft, { url, cursorFile, signal }) {
  const { enabled } = dataOf(await weft.workspace.feed.get())
  if (!enabled) dataOf(await weft.workspace.feed.update({ enabled: true }))
  const stored = await readFile(cursorFile, 'utf8').catch(() => null)
  const cursor = stored ?? dataOf(await weft.feed.get({ from: 'now' })).cursor
  console.log('Waiting for comments with @agent.')
  const pages = weft.feedPages({ cursor, types: ['comment.add'], pageSize: agentsMax, signal })
  for await (const page of pages) {
    await Promise.all(page.events.map((event) => respond(weft, event, { url, signal })))
    // After a crash or an end, the host reads the page again. The agent then finds its replies, and does nothing.
    if (signal.aborted) return
    await writeFile(`${cursorFile}.tmp`, page.cursor)
    await rename(`${cursorFile}.tmp`, cursorFile)
  }
}

async function respond(weft, { organizationId, documentId, data }, { url, signal }) {
  const { annotation, comment } = data
  const author = comment.from.userId
  if (author === agent.userId || !mention.test(comment.text)) return
  const document = { organizationId, documentId }
  const result = await startAgent(weft, { document, annotation, comment, author, url, signal }).catch(
    // For example, the document does not exist any more.
    (error) => error.message,
  )
  console.log(`${documentId}: ${result}`)
}

/** @returns the result in words */
async function startAgent(weft, { document, annotation, comment, author, url, signal }) {
  const role = await roleOf(weft, document, author)
  // The agent must not be a way around the permissions of the author.
  if (!mayAsk.includes(role)) return `${author} may not suggest changes`
  const { annotationId } = annotation
  const task = { ...document, annotationId, commentId: comment.commentId }
  const token = await tokenFor(weft, document, author)
  const child = spawn(process.execPath, ['agent.js', JSON.stringify(task)], {
    cwd: import.meta.dirname,
    env: { ...modelSettings(process.env), WEFT_URL: url, WEFT_AGENT_TOKEN: token },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: agentSeconds * 1000,
    killSignal: 'SIGKILL',
    signal,
  })
  const [code] = await once(child, 'exit')
  // Pages with comments from `createEndpoint` read them again.
  dataOf(await weft.livestate.broadcast({ ...document, event: 'comments.changed' }))
  return code === 0 ? `replied to ${author}` : `the agent failed for ${author}`
}

/** The agent gets the settings of its model, and nothing else of the environment. */
const modelSettings = ({ PATH, OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL }) => ({
  PATH,
  ...(OPENAI_BASE_URL && { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL }),
})

/** Returns the role of a user on a document; undefined without one. */
async function roleOf(weft, { organizationId, documentId }, userId) {
  const asked = { organizationId, userIds: [userId], documentIds: [documentId] }
  const permissions = dataOf(await weft.auth.permissions.get(asked))
  return permissions[userId]?.documents?.[documentId]?.accessRole
}

/** Creates the token of the agent: for one document, as a suggester, for five minutes. */
export async function tokenFor(weft, { organizationId, documentId }, author) {
  const resources = [{ type: 'document', id: documentId, organizationId, accessRole: 'suggester' }]
  const { token } = dataOf(
    await weft.auth.generateToken({
      userId: agent.userId,
      userProperties: { name: agent.name, email: '' },
      permissions: { resources },
      agent: true,
      model: endpointOf(process.env)?.model ?? 'scripted',
      onBehalfOf: author,
      policy: 'suggest-only',
      expiresInSeconds: tokenSeconds,
    }),
  )
  return token
}
