#ifndef FIL_BASE_TIMER_H
#define FIL_BASE_TIMER_H

/// Wall-clock seconds from an arbitrary origin; only differences mean something.
double fil_seconds(void);

#endif
