#ifndef FIL_RENDER_FILM_H
#define FIL_RENDER_FILM_H

/// Films: pictures one after the other, made into one file by ffmpeg, which runs as a child and is
/// fed through a pipe; or as a folder of PNG files.

#include "picture.h"

typedef struct FilFilm FilFilm;

/// True when ffmpeg can be run.
bool fil_film_has_ffmpeg(void);

/// True for the name of a film that ffmpeg makes: .mp4, .webm or .gif.
bool fil_film_is_known(const char *path);

/// Begin a film of pictures of that size. A known path becomes one file, which appears complete or
/// not at all; any other is a folder, which must exist, for frame-00000.png and so on. What exists
/// is replaced only with `force`. The caller ends with fil_film_end().
FilStatus fil_film_begin(const char *path, const int size[2], double fps, bool force, FilFilm **out,
                         FilError *error) FIL_MUST_CHECK;
FilStatus fil_film_add(FilFilm *film, const FilPicture *picture, FilError *error) FIL_MUST_CHECK;
/// `keep` false: the film is not wanted after all; pictures in a folder stay.
FilStatus fil_film_end(FilFilm *film, bool keep, FilError *error) FIL_MUST_CHECK;

#endif
