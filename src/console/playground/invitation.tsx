import { useState } from 'preact/hooks'
import type { ApiClient } from '../api/client.ts'
import { useAction } from '../api/hooks.ts'
import { Button } from '../ui/controls.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import { SecretField } from '../ui/secret.tsx'
import { playgroundPath } from './open-playground.ts'
import { identityHash, newParticipant, otherParticipantHash, type Participant } from './participant.ts'

/**
 * Opens a second window in the right half of the screen. Also resizes this window if the browser allows it,
 * so that both windows are visible.
 */
function openSecond(): void {
  const { availWidth, availHeight } = screen
  const half = Math.floor(availWidth / 2)
  const features = `popup,left=${half},top=0,width=${half},height=${availHeight}`
  if (window.open(playgroundPath + otherParticipantHash, '_blank', features) !== null)
    window.resizeTo(half, availHeight)
}

/**
 * Copies a text to the clipboard, and returns whether this succeeded. The browser denies access to the
 * clipboard if the page has neither HTTPS nor a local address.
 */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

interface InvitationProps {
  readonly participant: Participant
  readonly api: ApiClient | null
}

/** Explains how a visitor can see two users at work. */
export function Invitation({ participant, api }: InvitationProps) {
  // The invitation link, if it could not be copied; otherwise null.
  const [link, setLink] = useState<string | null>(null)
  const copy = useAction(async () => {
    const invited = api === null ? participant : await newParticipant(api)
    const made = location.origin + playgroundPath + identityHash(invited)
    const isCopied = await copied(made)
    setLink(isCopied ? null : made)
    return `${isCopied ? 'The link is copied.' : 'Copy the link.'} Anyone with the link may edit this document for two days.`
  })
  return (
    <section class="card">
      <h2>Be two</h2>
      <p>A second window acts as another user. Place both windows side by side, and type.</p>
      <div class="row">
        <Button kind="primary" onClick={openSecond}>
          Open a second window
        </Button>
        <Button busy={copy.busy} onClick={() => void copy.run()}>
          Copy an invitation link
        </Button>
      </div>
      <ActionOutcome {...copy} />
      {link !== null && <SecretField label="Link" value={link} open />}
    </section>
  )
}
