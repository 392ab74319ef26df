/* image.c - the end of an Image. */
#include "image.h"

#include <stdlib.h>

void gpu_image_free(Image *image) {
    if (!image) return;
    for (uint32_t i = 0; i < image->nsites && image->sites; i++) { /* one that ran out of memory has none */
        ImageSite *s = &image->sites[i];
        free(s->exception);
        free(s->message);
        free(s->file);
        free(s->function);
    }
    for (uint32_t i = 0; i < image->ncuts && image->cuts; i++) free(image->cuts[i].file);
    for (uint32_t i = 0; i < image->nlinks && image->links; i++) {
        free(image->links[i].data);
        free(image->links[i].name);
    }
    free(image->links);
    free(image->shared);
    free(image->data);
    free(image->locals);
    free(image->cuts);
    free(image->captures);
    free(image->sites);
    free(image->params);
    free(image->object);
    free(image->ptx);
    free(image->entry);
    free(image);
}
