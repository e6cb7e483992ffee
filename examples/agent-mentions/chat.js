// A client for the chat completions of an OpenAI-compatible endpoint. It needs only `fetch`.

const seconds = 60
/** Maximum number of characters of an answer, and of one event. */
const charactersMax = { answer: 200_000, event: 1_000_000 }

/** @returns the endpoint that the environment configures; null without one */
export function endpointOf({ OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey, OPENAI_MODEL: model }) {
  return baseUrl && apiKey && model ? { baseUrl: baseUrl.replace(/\/$/, ''), apiKey, model } : null
}

/**
 * Returns the pieces of the answer as they arrive.
 * @throws Error if the answer is not complete
 */
export async function* chat({ baseUrl, apiKey, model }, messages, signal) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    // A redirect could send the document to another host.
    redirect: 'error',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, messages, stream: true }),
    signal: AbortSignal.any([AbortSignal.timeout(seconds * 1000), ...(signal ? [signal] : [])]),
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`the endpoint of the model responded with HTTP ${response.status}`)
  }
  let characters = 0
  for await (const data of eventsOf(response.body)) {
    if (data === '[DONE]') return
    const { choices = [], error } = JSON.parse(data)
    if (error) throw new Error('the endpoint of the model reported an error')
    const { delta, finish_reason: reason } = choices[0] ?? {}
    const piece = delta?.content
    if (typeof piece === 'string' && piece !== '') {
      characters += piece.length
      if (characters > charactersMax.answer) throw new Error('the answer of the model is too long')
      yield piece
    }
    if (reason === 'stop') return
    if (reason) throw new Error(`the model stopped early: ${String(reason).slice(0, 50)}`)
  }
  throw new Error('the answer of the model ended early')
}

/** Returns the data of each server-sent event of a body. */
async function* eventsOf(body) {
  const decoder = new TextDecoder()
  let rest = ''
  let data = []
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/)
    rest = lines.pop()
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
      if (line !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
    }
    const characters = data.reduce((sum, line) => sum + line.length, rest.length)
    if (characters > charactersMax.event) throw new Error('an event of the model is too long')
  }
}
