import { Button } from '../ui/controls.tsx'
import { Notice } from '../ui/notice.tsx'
import { tools } from './editor.ts'
import { forgetIdentity } from './join.ts'
import { colorClass, type ListedParticipant } from './participant.ts'
import type { PlaygroundSession, ConnectionStatus as Standings } from './playground-session.ts'

/**
 * Event handler that keeps the focus in the text while a button is pressed. Without the focus, other users
 * would not see the cursor.
 */
export const keepFocus = (event: Event): void => event.preventDefault()

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
const keyText = (key: string): string => key.replace('Mod', isApple ? '⌘' : 'Ctrl').replaceAll('-', '+')

export function Toolbar({ session }: { readonly session: PlaygroundSession }) {
  const { state } = session
  return (
    <fieldset class="tools" aria-label="Formatting">
      {tools.map((tool) => (
        <button
          key={tool.name}
          type="button"
          class="button"
          title={keyText(tool.key)}
          aria-pressed={tool.isOn === undefined || state === null ? undefined : tool.isOn(state)}
          onMouseDown={keepFocus}
          onClick={() => session.run(tool)}
        >
          {tool.name}
        </button>
      ))}
    </fieldset>
  )
}

export const ParticipantList = ({ people }: { readonly people: readonly ListedParticipant[] }) => (
  <ul class="people" aria-label="Who is here">
    {people.map(({ clientId, name, isSelf }) => (
      <li key={clientId} class={colorClass(clientId)}>
        {name}
        {isSelf && ' (you)'}
      </li>
    ))}
  </ul>
)

const statusTexts = {
  connecting: 'Connecting…',
  saved: 'Saved on the server',
  saving: 'Saving…',
  away: 'Not connected; retrying. This window keeps your edits.',
} as const

export function ConnectionBadge({ standing }: { readonly standing: Standings }) {
  if (typeof standing === 'string') return <p class={`standing ${standing}`}>{statusTexts[standing]}</p>
  return (
    <Notice kind="bad">
      The server closed the connection: {standing.refused}.{' '}
      <Button
        onClick={() => {
          forgetIdentity()
          location.reload()
        }}
      >
        Come in again
      </Button>
    </Notice>
  )
}
