import type { ConsoleCredentials } from './api/credentials.ts'
import { Button } from './ui/controls.tsx'

interface LinkOfferProps {
  /** Credentials that the link contains. */
  readonly offered: ConsoleCredentials
  /** API key with which this tab is signed in; null if the visitor is not signed in. */
  readonly currentKey: string | null
  readonly onAccept: () => void
  readonly onDecline: () => void
}

/**
 * Asks the visitor whether the link may sign in. Without this question, a stranger's link could sign a
 * visitor in with the API key of the stranger (login CSRF). The visitor would then store content there. Each
 * tab asks, because each tab has its own session.
 */
export const LinkOffer = ({ offered, currentKey, onAccept, onDecline }: LinkOfferProps) => (
  <main class="sign-in">
    <h1>Sign in by this link?</h1>
    <p>
      The link signs in to <strong>{location.host}</strong> with the API key{' '}
      <code class="offered-key">{offered.apiKey}</code>. Continue only if you know this key or printed the
      link yourself.
    </p>
    {currentKey !== null && (
      <p>
        This tab is signed in with the API key <code>{currentKey}</code>. The link replaces it.
      </p>
    )}
    <p class="row">
      <Button kind="primary" onClick={onAccept}>
        Sign in with this key
      </Button>
      <Button onClick={onDecline}>Do not sign in</Button>
    </p>
  </main>
)
