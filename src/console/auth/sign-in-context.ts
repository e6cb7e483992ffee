import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleCredentials } from '../api/credentials.ts'

/** Context with the function that replaces the credentials of the session. */
export const SignInContext = createContext<(credentials: ConsoleCredentials) => void>(() => {})

export const useSignIn = (): ((credentials: ConsoleCredentials) => void) => useContext(SignInContext)
