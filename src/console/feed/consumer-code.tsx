import { restCallCode } from '../connect/rest-call-code.ts'
import { href } from '../routing/route.ts'
import { CodeSample } from '../ui/code-sample.tsx'
import type { EventSelection } from './listed-event.ts'

/** Time in seconds for which the sample waits for the next event. */
const waitSeconds = 20

interface ConsumerCodeProps {
  /** Address at which clients reach the server. */
  readonly base: string
  readonly selection: EventSelection
  readonly cursor: string
}

/** Shows the requests of a program that continues after the events on the page. */
export const ConsumerCode = ({ base, selection, cursor }: ConsumerCodeProps) => (
  <>
    <h2>Read the feed in a program</h2>
    <p>
      These requests continue after the events above. Set <code>KEY</code> to the API key and{' '}
      <code>TOKEN</code> to its auth token (<a href={href('keys')}>Keys and domains</a>). Store the cursor of
      each response together with the result of your work.
    </p>
    <CodeSample
      label="the request for the next events"
      code={restCallCode.curl(base.replace(/\/$/, ''), '/v2/feed/get', { ...selection, cursor, waitSeconds })}
    />
    <CodeSample label="the request for the stream" code={streamCode(base, selection, cursor)} />
  </>
)

function streamCode(base: string, selection: EventSelection, cursor: string): string {
  const query = new URLSearchParams({ cursor })
  for (const [name, value] of Object.entries(selection) as [string, string | readonly string[]][])
    for (const each of [value].flat()) query.append(name, each)
  return `curl -N '${base.replace(/\/$/, '')}/v2/feed/stream?${query}' \\
  -H "x-service-api-key: $KEY" -H "x-service-auth-token: $TOKEN"
`
}
