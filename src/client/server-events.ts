/** One server-sent event. */
export interface ReceivedEvent {
  readonly event?: string
  readonly id?: string
  readonly data?: string
}

/**
 * Reads a stream of server-sent events. Calls `onChunk` for all received bytes, comments included, before the
 * events in them.
 */
export async function readServerEvents(
  body: ReadableStream<Uint8Array>,
  onChunk: (bytes: number) => void,
  onEvent: (event: ReceivedEvent) => void,
): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let fields: Record<string, string> = {}
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onChunk(value.length)
    // Only new text is searched, because one line may be a message of many megabytes in many chunks.
    const lines = decoder.decode(value, { stream: true }).split('\n')
    lines[0] = rest + lines[0]
    rest = lines.pop() as string
    for (const line of lines)
      if (line) {
        const at = line.indexOf(':')
        fields[line.slice(0, at)] = line.slice(at + 1).trim()
      } else {
        onEvent(fields)
        fields = {}
      }
  }
}
