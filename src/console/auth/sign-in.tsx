import { useRef, useState } from 'preact/hooks'
import { ApiCallError } from '../api/client.ts'
import { type ConsoleCredentials, parseCredentialsFile } from '../api/credentials.ts'
import { useAction } from '../api/hooks.ts'
import { playgroundPath } from '../playground/open-playground.ts'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { type ApiKey, authenticate, authenticateWithKey } from './authenticate.ts'

type Who = 'key' | 'workspace'

interface Choosing {
  readonly workspace: ConsoleCredentials
  readonly keys: readonly ApiKey[]
}

/** Returns the credentials without the fields that the user has left empty. */
const given = (
  fields: { readonly [Member in keyof ConsoleCredentials]?: string | undefined },
): ConsoleCredentials =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))

/** Shows the sign-in form, which a visitor without a sign-in link sees first. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: (credentials: ConsoleCredentials) => void }) {
  // True if the user has requested the playground. After the sign-in, the page then opens the playground.
  const isTrying = useRef(false)
  const enter = (credentials: ConsoleCredentials) => {
    onSignedIn(credentials)
    if (isTrying.current) location.assign(playgroundPath)
  }
  const [who, setWho] = useState<Who>('key')
  const [fields, setFields] = useState<ConsoleCredentials>({})
  const [choice, setChoice] = useState<Choosing | null>(null)
  const set = (member: keyof ConsoleCredentials) => (value: string) =>
    setFields((before) => ({ ...before, [member]: value.trim() }))
  // All ways to sign in use the same action, so that the displayed message belongs to the latest attempt.
  const comeIn = useAction(async (read: () => ConsoleCredentials | Promise<ConsoleCredentials>) => {
    const credentials = await read()
    const signedIn = await authenticate(credentials)
    if (signedIn.kind === 'in') enter(signedIn.credentials)
    else setChoice({ workspace: credentials, keys: signedIn.keys })
  })
  const submit = (trying: boolean) => {
    isTrying.current = trying
    const { apiKey, authToken, workspaceId, workspaceAuthToken } = fields
    void comeIn.run(() => given(who === 'key' ? { apiKey, authToken } : { workspaceId, workspaceAuthToken }))
  }
  return (
    <main class="sign-in">
      <h1>
        <img src="/console/icon.svg" alt="" width="36" height="36" /> Weft console
      </h1>
      {choice === null ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            submit(false)
          }}
        >
          <Select<Who>
            label="Sign in with"
            value={who}
            options={[
              ['key', 'an API key'],
              ['workspace', 'a workspace'],
            ]}
            onChange={setWho}
          />
          <CredentialFields who={who} fields={fields} set={set} />
          <p class="hint">Leave both empty if the server runs without authentication.</p>
          <p class="row">
            <Button kind="primary" type="submit" busy={comeIn.busy}>
              Sign in
            </Button>
            <Button busy={comeIn.busy} onClick={() => submit(true)}>
              Try the shared editor
            </Button>
          </p>
        </form>
      ) : (
        <Keys
          keys={choice.keys}
          busy={comeIn.busy}
          onChoose={(key) => void comeIn.run(() => authenticateWithKey(choice.workspace, key))}
          onBack={() => setChoice(null)}
        />
      )}
      <ErrorNotice error={comeIn.error} />
      <FromFile onFile={(file) => void comeIn.run(() => readCredentials(file))} />
    </main>
  )
}

async function readCredentials(file: File): Promise<ConsoleCredentials> {
  const found = parseCredentialsFile(await file.text())
  if (found === null) throw new ApiCallError('INVALID_ARGUMENT', 'the file holds no credentials')
  return found
}

interface CredentialFieldsProps {
  readonly who: Who
  readonly fields: ConsoleCredentials
  readonly set: (member: keyof ConsoleCredentials) => (value: string) => void
}

const CredentialFields = ({ who, fields, set }: CredentialFieldsProps) =>
  who === 'key' ? (
    <>
      <TextField
        label="API key"
        value={fields.apiKey ?? ''}
        onInput={set('apiKey')}
        autocomplete="username"
      />
      <TextField
        label="Auth token"
        type="password"
        value={fields.authToken ?? ''}
        onInput={set('authToken')}
        autocomplete="current-password"
      />
    </>
  ) : (
    <>
      <TextField label="Workspace id" value={fields.workspaceId ?? ''} onInput={set('workspaceId')} />
      <TextField
        label="Workspace auth token"
        type="password"
        value={fields.workspaceAuthToken ?? ''}
        onInput={set('workspaceAuthToken')}
      />
    </>
  )

interface KeysProps {
  readonly keys: readonly ApiKey[]
  readonly busy: boolean
  readonly onChoose: (key: string) => void
  readonly onBack: () => void
}

const Keys = ({ keys, busy, onChoose, onBack }: KeysProps) => (
  <>
    <h2>Which API key?</h2>
    <p>Documents, users and webhooks belong to an API key.</p>
    <ul class="choices">
      {keys.map(({ id, apiKeyName, type }) => (
        <li key={id}>
          <Button busy={busy} onClick={() => onChoose(id)}>
            {apiKeyName === '' ? id : apiKeyName} ({type})
          </Button>
        </li>
      ))}
    </ul>
    <Button onClick={onBack}>Back</Button>
  </>
)

const FromFile = ({ onFile }: { readonly onFile: (file: File) => void }) => (
  <section class="aside">
    <h2>Started the server just now?</h2>
    <p>
      <code>node dist/main.js console</code> prints a link that signs in. Or choose the file{' '}
      <code>credentials.json</code> of the data directory; it is read here, and not sent.
    </p>
    <label class="field">
      credentials.json
      <input
        type="file"
        accept=".json,application/json"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? []
          if (file !== undefined) onFile(file)
          // Resets the field, so that the user can choose a corrected file with the same name. Otherwise, the
          // browser would report no change.
          event.currentTarget.value = ''
        }}
      />
    </label>
  </section>
)
