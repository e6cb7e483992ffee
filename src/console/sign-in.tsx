import { useRef, useState } from 'preact/hooks'
import { CallError } from './api.ts'
import { useAction } from './calls.ts'
import { type Credentials, credentialsOfFile } from './credentials.ts'
import { playgroundPath } from './playground/opening.ts'
import { type ApiKey, signIn, withKey } from './signing-in.ts'
import { Button, Choice, Field } from './ui/controls.tsx'
import { Problem } from './ui/notice.tsx'

interface SignInProps {
  readonly onSignedIn: (credentials: Credentials) => void
}

type Who = 'key' | 'workspace'

interface Choosing {
  readonly workspace: Credentials
  readonly keys: readonly ApiKey[]
}

/** What is empty was not given. */
const given = (fields: { readonly [Member in keyof Credentials]?: string | undefined }): Credentials =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))

/** The first screen of who has not come by a link that signs in. */
export function SignIn({ onSignedIn }: SignInProps) {
  // Whether it is the playground that somebody wants to see first.
  const isTrying = useRef(false)
  const enter = (credentials: Credentials) => {
    onSignedIn(credentials)
    if (isTrying.current) location.assign(playgroundPath)
  }
  const [who, setWho] = useState<Who>('key')
  const [fields, setFields] = useState<Credentials>({})
  const [choice, setChoice] = useState<Choosing | null>(null)
  const set = (member: keyof Credentials) => (value: string) =>
    setFields((before) => ({ ...before, [member]: value.trim() }))
  // One action for all ways in, so that what is told is of the last one that was tried.
  const comeIn = useAction(async (read: () => Credentials | Promise<Credentials>) => {
    const credentials = await read()
    const signedIn = await signIn(credentials)
    if (signedIn.kind === 'in') enter(signedIn.credentials)
    else setChoice({ workspace: credentials, keys: signedIn.keys })
  })
  const submit = (trying: boolean) => {
    isTrying.current = trying
    const { apiKey, authToken, workspaceId, workspaceAuthToken, metricsToken } = fields
    const shown = who === 'key' ? { apiKey, authToken } : { workspaceId, workspaceAuthToken }
    void comeIn.run(() => given({ ...shown, metricsToken }))
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
          <Choice<Who>
            label="Sign in with"
            value={who}
            options={[
              ['key', 'an API key'],
              ['workspace', 'a workspace'],
            ]}
            onChange={setWho}
          />
          <CredentialFields who={who} fields={fields} set={set} />
          <p class="hint">Leave both empty where the server runs without authentication.</p>
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
          onChoose={(key) => void comeIn.run(() => withKey(choice.workspace, key))}
          onBack={() => setChoice(null)}
        />
      )}
      <Problem error={comeIn.error} />
      <FromFile onFile={(file) => void comeIn.run(() => readCredentials(file))} />
    </main>
  )
}

async function readCredentials(file: File): Promise<Credentials> {
  const found = credentialsOfFile(await file.text())
  if (found === null) throw new CallError('INVALID_ARGUMENT', 'the file holds no credentials')
  return found
}

interface FieldsProps {
  readonly who: Who
  readonly fields: Credentials
  readonly set: (member: keyof Credentials) => (value: string) => void
}

const CredentialFields = ({ who, fields, set }: FieldsProps) => (
  <>
    {who === 'key' ? (
      <>
        <Field label="API key" value={fields.apiKey ?? ''} onInput={set('apiKey')} autocomplete="username" />
        <Field
          label="Auth token"
          type="password"
          value={fields.authToken ?? ''}
          onInput={set('authToken')}
          autocomplete="current-password"
        />
      </>
    ) : (
      <>
        <Field label="Workspace id" value={fields.workspaceId ?? ''} onInput={set('workspaceId')} />
        <Field
          label="Workspace auth token"
          type="password"
          value={fields.workspaceAuthToken ?? ''}
          onInput={set('workspaceAuthToken')}
        />
      </>
    )}
    <details>
      <summary>The server asks for a metrics token</summary>
      <Field
        label="Metrics token"
        type="password"
        value={fields.metricsToken ?? ''}
        onInput={set('metricsToken')}
        hint="WEFT_METRICS_TOKEN; the overview has no charts without it."
      />
    </details>
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
    <p>Documents, users and webhooks belong to one.</p>
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
    <h2>Just started?</h2>
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
          // Else the same file, mended, would be no change.
          event.currentTarget.value = ''
        }}
      />
    </label>
  </section>
)
