import type { OperatorLog } from './operator-log.ts'
import { type AcceptedIssuers, type Attended, attendantOf } from './outside/attendance.ts'
import type { LoadedSettings } from './settings/load-settings.ts'

/** What begins with the first installation of a service, and ends with its last. */
export interface Background {
  open(): void
  close(): void
  readonly isReady: boolean
}

/** The part of it that stands for a function. */
export interface Attending extends Background {
  /** Before the last application closes its server, and what else it has. */
  drain(): void
}

/** Of the functions that were given as options, those that work in the background. */
export function attendantsOf({ settings, mockUser }: LoadedSettings): Attended[] {
  // Dev mode asks none of them.
  const functions = mockUser ? [] : [settings.opaqueToken, settings.isRevoked]
  return functions.map(attendantOf).filter((attendant) => attendant !== undefined)
}

/** A service that uses a function counts once, in however many applications it is installed. */
export function attendingTo(
  attendant: Attended,
  loaded: LoadedSettings,
  log: OperatorLog,
): Attending {
  const accepted = {
    issuers: acceptedIssuers(loaded),
    clockTolerance: loaded.settings.clockTolerance,
  }
  let isOpen = false
  const close = (): void => {
    if (isOpen) attendant.close()
    isOpen = false
  }
  return {
    open() {
      if (!isOpen) {
        attendant.open(
          (reason) => log.error(reason),
          accepted,
          (name) => log.callback(name),
        )
      }
      isOpen = true
    },
    close,
    // A pool that the application ends in a hook waits for the connections that are taken from it.
    drain: close,
    get isReady() {
      return attendant.isReady
    },
  }
}

function acceptedIssuers({ issuers }: LoadedSettings): AcceptedIssuers {
  if (typeof issuers === 'function') return 'asked'
  return issuers.flatMap<string | undefined>(({ issuer }) => issuer ?? [undefined])
}
