import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import type { LogoutEvent } from '../../../lib/entrypoints/revocation/index.ts'
import type { DecisionEvent, DocumentEvent } from '../../../lib/index.ts'

interface Messages {
  readonly decision: DecisionEvent
  readonly document: DocumentEvent
  readonly logout: LogoutEvent
}

/** What one of our channels says until the test ends. */
export function heard<Name extends keyof Messages>(t: TestContext, name: Name): Messages[Name][] {
  const messages: Messages[Name][] = []
  listen<Messages[Name]>(t, name, (message) => void messages.push(message))
  return messages
}

/** Subscribes to one of our channels until the test ends. */
export function listen<Message>(
  t: TestContext,
  name: keyof Messages,
  listener: (message: Message) => unknown,
): void {
  const subscriber = (message: unknown) => listener(message as Message)
  subscribe(`fastify-tenant-auth:${name}`, subscriber)
  t.after(() => unsubscribe(`fastify-tenant-auth:${name}`, subscriber))
}
