// A stream of content (/v2/crdt/stream) with `fetch`: lines of JSON in both directions.

/**
 * Streams pieces into a document, until their end.
 * @param headers credentials
 * @returns the member `done` of the last line
 * @throws Error if the server rejects the stream, or the pieces throw; the text stays then
 */
export async function streamContent({ url, headers }, opening, pieces) {
  const lines = linesOf(opening, pieces)
  const response = await fetch(`${url}/v2/crdt/stream`, {
    method: 'POST',
    redirect: 'error',
    duplex: 'half',
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
    body: ReadableStream.from(lines),
  })
  let rest = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const complete = (rest + text).split('\n')
    rest = complete.pop()
    for (const line of complete) {
      if (line === '') continue
      const { done, error } = JSON.parse(line)
      if (error) throw new Error(error.message)
      if (done) return done
    }
  }
  throw new Error(rest === '' ? 'the stream ended early' : JSON.parse(rest).error.message)
}

async function* linesOf(opening, pieces) {
  const encoder = new TextEncoder()
  const line = (value) => encoder.encode(`${JSON.stringify(value)}\n`)
  yield line(opening)
  for await (const piece of pieces) {
    yield line(typeof piece === 'string' ? { text: piece } : piece)
    if (typeof piece !== 'string') return
  }
  yield line({ end: true })
}
