import type { Api } from '../api.ts'
import { useAction } from '../calls.ts'
import { Button } from '../ui/controls.tsx'
import { Outcome } from '../ui/notice.tsx'
import { another, type Guest, hashOf, newGuest } from './guest.ts'
import { playgroundPath } from './opening.ts'

/** At the right half of the screen, so that both windows are to be seen; this one moves too where it may. */
function openSecond(): void {
  const { availWidth, availHeight } = screen
  const half = Math.floor(availWidth / 2)
  const features = `popup,left=${half},top=0,width=${half},height=${availHeight}`
  if (window.open(playgroundPath + another, '_blank', features) !== null) window.resizeTo(half, availHeight)
}

interface InvitationProps {
  readonly guest: Guest
  readonly api: Api | null
}

/** How to see two people at work. */
export function Invitation({ guest, api }: InvitationProps) {
  const copy = useAction(async () => {
    const invited = api === null ? guest : await newGuest(api)
    await navigator.clipboard.writeText(location.origin + playgroundPath + hashOf(invited))
    return 'The link is copied. Who has it may edit this document for two days.'
  })
  return (
    <section class="card">
      <h2>Be two</h2>
      <p>A second window is another person. Put both side by side, and type.</p>
      <div class="row">
        <Button kind="primary" onClick={openSecond}>
          Open a second window
        </Button>
        <Button busy={copy.busy} onClick={() => void copy.run()}>
          Copy a link for somebody else
        </Button>
      </div>
      <Outcome {...copy} />
    </section>
  )
}
