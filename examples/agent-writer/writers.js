// Starts the writer for users: each one has a token for one document, and streams a section into it.
import { createClient, dataOf } from 'weft-server/client'
import { modelName, section } from './model.js'

const writersMax = 20
const promptCharactersMax = 500
const documentCharactersMax = 60_000
const seconds = 120
/** A token is valid a little longer than its writer works. */
const tokenSeconds = 180
const effects = ['keep', 'withdraw']

/** The writers at work. */
export class Writers {
  #weft
  #url
  /** Writers by the id of their work. */
  #atWork = new Map()

  /** @param options address of Weft, and the API key */
  constructor(options) {
    this.#weft = createClient(options)
    this.#url = options.url
  }

  /**
   * Writes a section at the end of a document.
   * @param data `documentId`; `prompt`, the topic; `writeId`, an id that the page has made, for `stop`
   * @returns `outcome`: `done`, `kept` or `withdrawn`
   */
  async write({ documentId, prompt, writeId }, user) {
    if (!isText(prompt, promptCharactersMax)) throw new Error('write a topic')
    if (!isText(writeId, 100) || this.#atWork.has(writeId)) throw new Error('invalid id')
    const ofUser = [...this.#atWork.values()].some(({ userId }) => userId === user.userId)
    if (ofUser || this.#atWork.size >= writersMax) throw new Error('the writer is busy; try again later')
    const stopping = new AbortController()
    const work = { userId: user.userId, effect: null, error: null, stopping }
    this.#atWork.set(writeId, work)
    try {
      const place = { organizationId: 'example', documentId, editorId: 'main', contentKey: 'default' }
      const agent = createClient({ url: this.#url, agentToken: await this.#tokenFor(place, user) })
      return { outcome: await writeSection(agent, { place, prompt, writeId, work }) }
    } finally {
      this.#atWork.delete(writeId)
    }
  }

  /** Stops a writer of this user. The effect `keep` keeps its text, and `withdraw` removes it. */
  async stop({ writeId, effect }, { userId }) {
    const work = this.#atWork.get(writeId)
    if (work?.userId !== userId || !effects.includes(effect)) throw new Error('the writer is not at work')
    work.effect ??= effect
    work.stopping.abort()
    return {}
  }

  /** Creates the token of the agent for one document. */
  async #tokenFor({ organizationId, documentId }, user) {
    const resources = [{ type: 'document', id: documentId, organizationId, accessRole: 'editor' }]
    const { token } = dataOf(
      await this.#weft.auth.generateToken({
        userId: `writer-${user.userId}`,
        userProperties: { name: `Writer for ${user.name}`, email: '' },
        permissions: { resources },
        agent: true,
        model: modelName(),
        onBehalfOf: user.userId,
        expiresInSeconds: tokenSeconds,
      }),
    )
    return token
  }
}

/**
 * Reads the document and streams the section.
 * @param agent client with the token of the agent
 * @returns the outcome
 */
async function writeSection(agent, { place, prompt, writeId, work }) {
  const read = await agent.crdt.get({ ...place, format: 'markdown' })
  if (!read.ok && read.error.status === 'NOT_FOUND')
    throw new Error('write something into the document first')
  const markdown = String(dataOf(read)[0]?.data ?? '').slice(0, documentCharactersMax)
  const signal = AbortSignal.any([work.stopping.signal, AbortSignal.timeout(seconds * 1000)])
  const pieces = untilStopped(section({ prompt, markdown, signal }), work)
  const opening = {
    ...place,
    edit: { insert: { at: 'end' } },
    format: 'markdown',
    streamId: writeId,
    meta: { section: writeId },
  }
  const { outcome } = dataOf(await agent.crdt.stream(opening, pieces))
  if (work.error !== null) throw work.error
  return outcome === 'done' && work.effect !== null ? 'kept' : outcome
}

/** Returns the pieces until the model fails or a user stops the writer. */
async function* untilStopped(pieces, work) {
  try {
    yield* pieces
  } catch (error) {
    // The text that the model has written stays.
    if (work.effect === null) work.error = error
  }
  if (work.effect === 'withdraw') yield { withdraw: true }
}

const isText = (value, max) => typeof value === 'string' && value.trim() !== '' && value.length <= max
